//go:build unix

package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// stranger is a user who has nothing to do with the one who tests.
const stranger = 4321

// give makes a file the stranger's.
func (y *yard) give(path string) {
	y.t.Helper()
	if os.Getuid() != 0 {
		y.t.Skip("only root gives files away")
	}
	if err := os.Chown(path, stranger, -1); err != nil {
		y.t.Fatal(err)
	}
}

// open lets all users write to a file.
func (y *yard) open(path string) {
	y.t.Helper()
	if err := os.Chmod(path, 0o777); err != nil {
		y.t.Fatal(err)
	}
}

// TestSourcesOfStranger: the folder that slipway was built from may be gone, and another user have put sources there.
func TestSourcesOfStranger(t *testing.T) {
	for name, seize := range map[string]func(*yard){
		"the folder":         func(y *yard) { y.give(y.root) },
		"a writable folder":  func(y *yard) { y.open(y.root) },
		"one above":          func(y *yard) { y.open(filepath.Dir(y.root)) },
		"a file":             func(y *yard) { y.give(filepath.Join(y.root, "cluster/cmd/slipway-cluster/main.go")) },
		"a writable package": func(y *yard) { y.open(filepath.Join(y.root, "cluster/cmd/slipway-cluster")) },
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			seize(y)
			for _, named := range []string{"", y.root} {
				y.env["SLIPWAY_SOURCE"] = named
				e := y.failure()
				if !errors.Is(e, process.ErrStranger) && !errors.Is(e, process.ErrWritable) {
					t.Errorf("SLIPWAY_SOURCE=%s: %v", named, e)
				}
			}
		})
	}
}

// TestVersionInPlaceOfStranger: a slipway that was installed at a version does without the folder, and warns once.
func TestVersionInPlaceOfStranger(t *testing.T) {
	y := newYard(t)
	y.version = "v1.0.0"
	y.open(y.root)
	for range 2 {
		src, err := y.source(clusterProduct())
		if err != nil || src.dir != "" || src.version != y.version {
			t.Errorf("got %+v, %v", src, err)
		}
	}
	warnings := 0
	for _, e := range y.events {
		if w, ok := e.(report.Warning); ok && strings.Contains(w.Text, y.root) {
			warnings++
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings: %v", warnings, y.events)
	}
}

// TestNamedProgramOfStranger: SLIPWAY_CLUSTER leads to a program that another user can change.
func TestNamedProgramOfStranger(t *testing.T) {
	y := newYard(t)
	named := y.script("elsewhere/program", "touch "+filepath.Join(y.root, "ran")+"; "+sameProtocol)
	y.open(filepath.Dir(named))
	y.env["SLIPWAY_CLUSTER"] = named
	if _, err := y.Ensure(t.Context()); !errors.Is(err, process.ErrWritable) {
		t.Errorf("got %v", err)
	}
	if isFile(filepath.Join(y.root, "ran")) {
		t.Error("it was started")
	}
}

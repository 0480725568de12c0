//go:build unix

package program

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// TestMemory wants a named program to be asked once, and again when it or the
// memory is another one. A made-up answer in the memory shows which of the two spoke.
func TestMemory(t *testing.T) {
	y := newYard(t)
	path := y.ensure().Path
	ask := func() protocol.Version {
		t.Helper()
		v, err := y.ask(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	real := ask()
	memory, now, ok := y.remember(path)
	if !ok {
		t.Fatal("nothing is remembered")
	}
	now.Version.Version = "made up"
	now.keep(memory)
	if v := ask(); v.Version != "made up" {
		t.Errorf("asked again: %+v", v)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if v := ask(); v != real {
		t.Errorf("a program that changed: %+v", v)
	}
	if err := os.WriteFile(memory, []byte("half a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if v := ask(); v != real {
		t.Errorf("a damaged memory: %+v", v)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if v, err := y.ask(t.Context(), path); err == nil {
		t.Errorf("a program that cannot be run: %+v", v)
	}
}

// TestScriptsAreAskedEachTime changes what a script runs, and not the script.
func TestScriptsAreAskedEachTime(t *testing.T) {
	y := newYard(t)
	answer := y.write("answer", `{"protocol": 3, "version": "v1"}`)
	y.env["SLIPWAY_CLUSTER"] = y.script("wrapper", "cat "+answer)
	y.ensure()
	y.write("answer", `{"protocol": 7, "version": "v7"}`)
	if _, err := y.Ensure(t.Context()); !errors.Is(err, errProtocol) {
		t.Errorf("%v", err)
	}
}

// TestNoMemory wants programs to be asked where nothing can be written.
func TestNoMemory(t *testing.T) {
	y := newYard(t)
	path := y.ensure().Path
	y.env["SLIPWAY_CACHE"] = filepath.Join(y.write("file", ""), "below")
	y.env["SLIPWAY_CLUSTER"] = path
	if p := y.ensure(); p != (Program{path, FromEnvironment}) {
		t.Errorf("%+v", p)
	}
}

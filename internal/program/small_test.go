//go:build unix

package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
)

// small writes a program of the cluster module.
func (y *yard) small(name string) {
	y.write("cluster/cmd/"+name+"/main.go", "package main\n\nfunc main() {}\n")
}

// TestEnsureChecker: built once, from the folders that it consists of; a change of those makes another one, others do
// not.
func TestEnsureChecker(t *testing.T) {
	y := newYard(t)
	y.small(checkName)
	y.write("cluster/go.sum", "")
	y.write("cluster/crdcheck/check.go", "package crdcheck\n")
	ensure := func() string {
		t.Helper()
		path, err := y.EnsureChecker(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !isFile(path) {
			t.Fatal("not there:", path)
		}
		return path
	}
	if _, ok, err := y.find(checkProduct()); ok || err != nil {
		t.Fatal("found before it was built:", ok, err)
	}
	first := ensure()
	if path, ok, err := y.find(checkProduct()); path != first || !ok || err != nil {
		t.Errorf("found %s, %v, %v", path, ok, err)
	}
	if id := y.CheckerID(); id != filepath.Base(filepath.Dir(first)) {
		t.Errorf("the checker's id is %s", id)
	}
	y.write("cluster/cmd/slipway-cluster/main.go", "package main\n\nfunc main() { println() }\n")
	if path := ensure(); path != first {
		t.Errorf("built again for a change of the cluster program: %s", path)
	}
	y.write("cluster/crdcheck/check.go", "package crdcheck\n\nconst changed = true\n")
	if path := ensure(); path == first {
		t.Error("not built again for a change of its own")
	}
}

// TestProgramsAreForAll: whoever builds them keeps his files to himself, and still the nodes' users can run them.
func TestProgramsAreForAll(t *testing.T) {
	y := newYard(t)
	y.small(checkName)
	y.write("cluster/go.sum", "")
	y.write("cluster/crdcheck/check.go", "package crdcheck\n")
	before := syscall.Umask(0o077)
	path, err := y.EnsureChecker(t.Context())
	syscall.Umask(before)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != forAll {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}
}

// TestEnsureCheckerNamedAndNeighbour: the named one wins over the one beside slipway, and that over a build.
func TestEnsureCheckerNamedAndNeighbour(t *testing.T) {
	y := newYard(t)
	beside := y.script(filepath.Join("bin", fileName(checkName)), "exit 0")
	if path, err := y.EnsureChecker(t.Context()); path != beside || err != nil {
		t.Errorf("got %s, %v", path, err)
	}
	named := y.write("named", "program")
	y.env["SLIPWAY_CHECK"] = named
	if path, err := y.EnsureChecker(t.Context()); path != named || err != nil {
		t.Errorf("got %s, %v", path, err)
	}
	y.env["SLIPWAY_CHECK"] = named + "-absent"
	_, err := y.EnsureChecker(t.Context())
	if e, ok := errors.AsType[*report.Error](err); !ok || e.What != "SLIPWAY_CHECK does not name a program" {
		t.Errorf("got %v", err)
	}
}

// TestEnsureCheckerCannot: sources that do not compile are told with what builds them by hand.
func TestEnsureCheckerCannot(t *testing.T) {
	y := newYard(t)
	y.small(checkName)
	y.write("cluster/go.sum", "")
	y.write("cluster/crdcheck/check.go", "package crdcheck\n")
	y.write("cluster/cmd/slipway-check/wrong.go", "package main\n\nfunc wrong() { undefined() }\n")
	_, err := y.EnsureChecker(t.Context())
	e, ok := errors.AsType[*report.Error](err)
	if !ok || e.What != "the checker of CRDs could not be built" || !strings.Contains(e.Hint, "undefined: undefined") || !strings.Contains(e.Next, "go build ./cmd/slipway-check") {
		t.Errorf("got %#v", err)
	}
}

// TestPinnedModule: a program with other generators than the module's own requires them, and nothing else but what lets
// them compile.
func TestPinnedModule(t *testing.T) {
	own, err := modfile.Parse("go.mod", []byte("module example.com/own\n\ngo 1.26.0\n\nrequire (\n\tgolang.org/x/tools v0.52.0\n\tk8s.io/code-generator v0.37.1\n\tk8s.io/api v0.37.1\n)\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := codegenProductOf("v0.34.1").pinnedModule(own)
	if err != nil {
		t.Fatal(err)
	}
	const want = "module github.com/slipway-dev/slipway\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/code-generator v0.34.1\n\tgolang.org/x/tools v0.52.0\n)\n"
	if string(content) != want {
		t.Errorf("got %s", content)
	}
}

// TestPinnedHasSlotOfItsOwn: programs with other generators lie beside each other in the cache, and the user's own is
// taken for any.
func TestPinnedHasSlotOfItsOwn(t *testing.T) {
	keys := make(map[string]bool)
	for _, p := range []*product{codegenProduct(), codegenProductOf("v0.34.1"), codegenProductOf("v0.34.2")} {
		key, err := source{version: "v1.0.0"}.key(p)
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if len(keys) != 3 {
		t.Errorf("got %v", keys)
	}
}

// TestEnsureCodegen: it is a program of slipway's own module.
func TestEnsureCodegen(t *testing.T) {
	y := newYard(t)
	y.write("go.sum", "")
	for _, folder := range codegenProduct().folders {
		y.write(folder+"/x.go", "package "+filepath.Base(folder)+"\n")
	}
	y.write("cmd/slipway-codegen/x.go", "package main\n\nfunc main() {}\n")
	path, err := y.EnsureCodegen(t.Context())
	if err != nil || !isFile(path) {
		t.Fatal(path, err)
	}
	if again, err := y.EnsureCodegen(t.Context()); again != path || err != nil {
		t.Errorf("got %s, %v", again, err)
	}
}

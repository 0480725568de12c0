package load_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

const withPlainFiles = dependency + `
-- go.mod --
module example.com/project
require example.com/dep v1.0.0
-- root/root.go --
package root
import "example.com/dep"
type All struct { Field dep.Size }
-- root/own.go --
package root
func own() {}
-- modcache/example.com/dep@v1.0.0/size.go --
package dep
type Size string
-- modcache/example.com/dep@v1.0.0/values.go --
package dep
const Largest = 3
-- modcache/example.com/dep@v1.0.0/hidden.go --
//go:build ignore
package dep
type Hidden string
`

// TestPlain: a loader reports the files of dependencies that are of no interest. One that gets the list does not read
// them: it passes over a type that has come to one of them.
func TestPlain(t *testing.T) {
	dir := tree(t, withPlainFiles)
	dep := filepath.Join(dir, "modcache", "example.com", "dep@v1.0.0")
	first := loaderThatKnows(t, dir, nil)
	if got := declares(t, first, "Size"); !got {
		t.Fatal("the type of the dependency is not found")
	}
	want := []load.PlainFolder{{Dir: dep, Files: []load.PlainFile{
		{Name: "dep.go", Package: "dep"},
		{Name: "hidden.go", LeftOut: true},
		{Name: "values.go", Package: "dep", Constants: true},
	}}}
	if diff := cmp.Diff(want, first.Plain()); diff != "" {
		t.Errorf("plain files (-want +got):\n%s", diff)
	}
	put(t, dep, "values.go", "package dep\n\ntype Late string\n")
	if !declares(t, loaderThatKnows(t, dir, nil), "Late") {
		t.Error("a loader that knows nothing does not find the new type")
	}
	second := loaderThatKnows(t, dir, want)
	if declares(t, second, "Late") {
		t.Error("a file was read that is said to be plain")
	}
	if !second.LeftOut(filepath.Join(dep, "hidden.go")) {
		t.Error("the file that is left out of the build is forgotten")
	}
	if diff := cmp.Diff(want, second.Plain()); diff != "" {
		t.Errorf("plain files, the second time (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, loaderThatKnows(t, dir, want).Plain()); diff != "" {
		t.Errorf("plain files of a run that reads nothing (-want +got):\n%s", diff)
	}
}

func loaderThatKnows(t *testing.T, dir string, plain []load.PlainFolder) *load.Loader {
	t.Helper()
	registry, err := marker.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return load.New(load.Config{Dir: dir, Registry: registry, Plain: plain})
}

// declares reports whether the dependency declares the type.
func declares(t *testing.T, l *load.Loader, name string) bool {
	t.Helper()
	roots, err := l.Roots(t.Context(), "./root")
	if err != nil {
		t.Fatal(err)
	}
	dep, err := roots[0].Import("example.com/dep")
	if err != nil {
		t.Fatal(err)
	}
	return dep.Decl(name) != nil
}

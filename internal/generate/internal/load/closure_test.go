package load_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

const closureTree = `
-- go.mod --
module example.com/m

go 1.26
-- api/types.go --
package api

import (
	"net/http"
	"os"

	"example.com/m/dep"
	"example.com/m/used"
)

type T struct {
	Mode os.FileMode
	Used used.T
}

var Client http.Client

func F() { dep.F() }
-- api/helpers.go --
package api

func G() {}
-- used/used.go --
package used

import "example.com/m/deeper"

type T struct{ D deeper.T }
-- used/functions.go --
package used

import "example.com/m/dep"

func F() { dep.F() }
-- deeper/deeper.go --
package deeper

import "example.com/m/functions"

type T struct{ f functions.T }
-- functions/functions.go --
package functions

func F() {}
-- dep/dep.go --
package dep

type T int

func F() {}
`

// TestClosure: of what packages import the generators get what types need, and of that the files that declare types.
func TestClosure(t *testing.T) {
	dir := tree(t, closureTree)
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), "./api")
	if err != nil {
		t.Fatal(err)
	}
	all, ok := l.Closure(roots)
	if !ok {
		t.Fatal("something does not exist")
	}
	got := make(map[string][]string)
	for _, s := range all {
		for _, file := range s.Files {
			got[s.Path] = append(got[s.Path], filepath.Base(file))
		}
		for path, target := range s.Imports {
			if got[path] = append(got[path], "for "+s.Path); path != target {
				t.Errorf("%s is imported as %s", target, path)
			}
		}
	}
	for _, std := range []string{"os", "io/fs"} { // os.FileMode is one of fs
		if len(got[std]) == 0 {
			t.Errorf("%s is not among the packages", std)
		}
	}
	if len(got["net/http"]) > 0 || len(got["runtime"]) > 0 {
		t.Error("packages are read that no type needs")
	}
	maps.DeleteFunc(got, func(path string, _ []string) bool { return !strings.Contains(path, ".") })
	want := map[string][]string{
		"example.com/m/api":    {"helpers.go", "types.go"},
		"example.com/m/used":   {"for example.com/m/api", "used.go"},
		"example.com/m/deeper": {"for example.com/m/used", "deeper.go"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestClosureOfMissing: what does not exist is for the go command to report.
func TestClosureOfMissing(t *testing.T) {
	dir := tree(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.26\n-- m.go --\npackage m\n\nimport \"example.com/none\"\n\ntype T none.T\n")
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if all, ok := l.Closure(roots); ok {
		t.Errorf("the closure is %v", all)
	}
	tagged := load.New(load.Config{Dir: dir, Tags: []string{"mine"}})
	if _, ok := tagged.Closure(nil); ok {
		t.Error("there is a closure with tags that the generators do not have")
	}
}

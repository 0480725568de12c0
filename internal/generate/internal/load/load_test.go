package load_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// tree writes the files of an archive into a folder. Those below modcache are
// the module cache.
func tree(t testing.TB, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if t, ok := t.(*testing.T); ok {
		t.Setenv("GOMODCACHE", filepath.Join(dir, "modcache"))
		t.Setenv("GOFLAGS", "")
		t.Setenv("GOWORK", "")
		t.Setenv("GOENV", "off")
		t.Setenv("GOPROXY", "off")
	}
	return dir
}

// recorder collects notes, and details of what takes long.
type recorder struct{ notes, details []string }

func (r *recorder) Handle(e report.Event) {
	switch e := e.(type) {
	case report.Note:
		r.notes = append(r.notes, e.Text)
	case report.Detail:
		r.details = append(r.details, e.Text)
	}
}

func newLoader(t testing.TB, dir string, notes report.Handler) *load.Loader {
	t.Helper()
	registry, err := marker.NewRegistry(
		marker.Define[string]("groupName", marker.Package, "is a group"),
		marker.Define[struct{}]("root", marker.Type, "makes a kind"),
		marker.Define[int]("max", marker.Field, "is a bound"),
	)
	if err != nil {
		t.Fatal(err)
	}
	return load.New(load.Config{Dir: dir, Registry: registry, Notes: notes})
}

// imports returns, for each field of the type All in the root package, where the
// package of the field's type is, relative to dir.
func imports(t *testing.T, dir string, l *load.Loader) map[string]string {
	t.Helper()
	roots, err := l.Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, f := range roots[0].Decl("All").Type().StructFields() {
		if f.Type.Decl == nil {
			found[f.Name] = f.Type.Kind.String()
			continue
		}
		rel, err := filepath.Rel(dir, f.Type.Decl.Package.Dir)
		if err != nil {
			t.Fatal(err)
		}
		found[f.Name] = filepath.ToSlash(rel)
	}
	return found
}

const modTree = `
-- main/go.mod --
module example.com/main

go 1.26

require (
	example.com/dep v1.2.0
	example.com/dep/nested v0.1.0
	example.com/other v1.0.0
	github.com/Upper/Case v1.0.0
	example.com/local v0.0.0
	example.com/versioned v1.0.0
	gopkg.in/named.v2 v2.0.0
)

replace (
	example.com/other => example.com/fork v1.5.0
	example.com/local => ../local
	example.com/versioned v1.0.0 => example.com/versioned v1.0.1
	example.com/versioned v0.9.0 => example.com/nowhere v1.0.0
)
-- main/main.go --
package main

import (
	"example.com/dep"
	"example.com/dep/nested"
	"example.com/dep/sub"
	"example.com/local"
	"example.com/main/api"
	"example.com/missing"
	"example.com/odd-name"
	"example.com/other"
	"example.com/versioned"
	alias "github.com/Upper/Case"
	. "example.com/dep/dotted"
	"gopkg.in/named.v2"
	"net/url"
)

type All struct {
	Dep       dep.T
	Nested    nested.T
	Sub       sub.T
	Local     local.T
	API       api.T
	Other     other.T
	Versioned versioned.T
	Alias     alias.T
	Dotted    Dotted
	Named     named.T
	Missing   missing.T
	Unknown   dep.Unknown
	Hidden    dep.hidden
	Basic     string
}
-- main/api/api.go --
package api

type T struct{}
-- modcache/example.com/dep@v1.2.0/dep.go --
package dep

type T struct{}

type hidden struct{}
-- modcache/example.com/dep@v1.2.0/sub/sub.go --
package sub

type T struct{}
-- modcache/example.com/dep@v1.2.0/dotted/dotted.go --
package dotted

type Dotted struct{}
-- modcache/example.com/dep@v1.2.0/nested/go.mod --
module example.com/dep/nested
-- modcache/example.com/dep/nested@v0.1.0/nested.go --
package nested

type T struct{}
-- modcache/example.com/fork@v1.5.0/fork.go --
package other

type T struct{}
-- modcache/example.com/versioned@v1.0.1/v.go --
package versioned

type T struct{}
-- modcache/github.com/!upper/!case@v1.0.0/case.go --
package anything

type T struct{}
-- modcache/gopkg.in/named.v2@v2.0.0/named.go --
package named

type T struct{}
-- local/go.mod --
module example.com/local
-- local/local.go --
package local

type T struct{}
`

func TestModules(t *testing.T) {
	dir := tree(t, modTree)
	l := newLoader(t, filepath.Join(dir, "main"), nil)
	want := map[string]string{
		"Dep":       "modcache/example.com/dep@v1.2.0",
		"Nested":    "modcache/example.com/dep/nested@v0.1.0",
		"Sub":       "modcache/example.com/dep@v1.2.0/sub",
		"Local":     "local",
		"API":       "main/api",
		"Other":     "modcache/example.com/fork@v1.5.0",
		"Versioned": "modcache/example.com/versioned@v1.0.1",
		"Alias":     "modcache/github.com/!upper/!case@v1.0.0",
		"Dotted":    "modcache/example.com/dep@v1.2.0/dotted",
		"Named":     "modcache/gopkg.in/named.v2@v2.0.0",
		"Missing":   "invalid",
		"Unknown":   "invalid",
		"Hidden":    "invalid",
		"Basic":     "basic",
	}
	if diff := cmp.Diff(want, imports(t, dir, l)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const smallMain = `
-- main/main.go --
package main

import "example.com/dep"

type All struct{ Dep dep.T }
`

func TestModuleForms(t *testing.T) {
	for name, test := range map[string]struct {
		archive string
		want    string // folder of example.com/dep
		asks    bool   // the go command
	}{
		"vendor": {`
-- main/go.mod --
module example.com/main
go 1.26
require example.com/dep v1.0.0
-- main/vendor/modules.txt --
# example.com/dep v1.0.0
## explicit
example.com/dep
-- main/vendor/example.com/dep/dep.go --
package dep
type T struct{}
-- modcache/example.com/dep@v1.0.0/dep.go --
package dep
type T struct{}
`, "main/vendor/example.com/dep", false},
		"workspace": {`
-- go.work --
go 1.26
use (
	./main
	./dep
)
-- main/go.mod --
module example.com/main
go 1.26
require example.com/dep v1.0.0
-- dep/go.mod --
module example.com/dep
go 1.26
-- dep/dep.go --
package dep
type T struct{}
`, "dep", false},
		"workspace with a replacement": {`
-- go.work --
go 1.26
use ./main
replace example.com/dep => ./fork
-- main/go.mod --
module example.com/main
go 1.26
require example.com/dep v1.0.0
replace example.com/dep => ../nowhere
-- fork/go.mod --
module example.com/dep
-- fork/dep.go --
package dep
type T struct{}
`, "fork", false},
		"workspace with different versions": {`
-- go.work --
go 1.26
use (
	./main
	./second
)
replace (
	example.com/dep v1.0.0 => ./old
	example.com/dep v1.1.0 => ./new
)
-- main/go.mod --
module example.com/main
go 1.26
require example.com/dep v1.0.0
-- second/go.mod --
module example.com/second
go 1.26
require example.com/dep v1.1.0
-- second/second.go --
package second
-- old/go.mod --
module example.com/dep
-- old/dep.go --
package dep
type T struct{}
-- new/go.mod --
module example.com/dep
-- new/dep.go --
package dep
type T struct{}
`, "new", false},
		"old go directive": {`
-- main/go.mod --
module example.com/main
go 1.16
require example.com/dep v1.0.0
replace example.com/dep => ../dep
-- dep/go.mod --
module example.com/dep
-- dep/dep.go --
package dep
type T struct{}
`, "dep", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, test.archive+smallMain)
			notes := &recorder{}
			got := imports(t, dir, newLoader(t, filepath.Join(dir, "main"), notes))
			if got["Dep"] != test.want {
				t.Errorf("example.com/dep is in %s, want %s (%q)", got["Dep"], test.want, notes.notes)
			}
			asked := len(notes.notes) > 0
			if asked != test.asks {
				t.Errorf("asked the go command: %v, want %v (%q)", asked, test.asks, notes.notes)
			}
			if shown := slices.ContainsFunc(notes.details, func(d string) bool { return strings.HasPrefix(d, "asking the go command where ") }); shown != asked {
				t.Errorf("shown while it goes on: %v, want %v (%q)", shown, asked, notes.details)
			}
		})
	}
}

const patternTree = `
-- go.mod --
module example.com/main
go 1.26
-- root.go --
package main
-- a/a.go --
package a
-- a/b/b.go --
package b
-- a/testdata/x.go --
package x
-- _hidden/x.go --
package x
-- .hidden/x.go --
package x
-- vendor/v/v.go --
package v
-- onlytests/x_test.go --
package x
-- plan9/x_plan9.go --
package x
-- generated/zz.go --
//go:build !ignore_autogenerated

package generated
-- tagged/x.go --
//go:build custom || ignore

package tagged
-- nested/go.mod --
module example.com/nested
go 1.26
-- nested/n.go --
package n
-- nested/below/n.go --
package n
-- testdata/project/go.mod --
module example.com/project
go 1.26
-- testdata/project/p.go --
package p
-- a/b/broken/go.mod --
module example.com/broken
require
-- a/b/broken/b.go --
package b
-- gopath/pkg/mod/example.com/other@v1.0.0/go.mod --
module example.com/other
-- gopath/pkg/mod/example.com/other@v1.0.0/o.go --
package o
`

func TestPatterns(t *testing.T) {
	dir := tree(t, patternTree)
	everything := []string{"example.com/main", "example.com/main/a", "example.com/main/a/b", "example.com/nested", "example.com/nested/below", "example.com/project"}
	for _, test := range []struct {
		patterns []string
		want     []string
	}{
		{[]string{"./..."}, everything},
		{[]string{"..."}, everything},
		{[]string{dir + "/..."}, everything},
		{[]string{"./a/..."}, []string{"example.com/main/a", "example.com/main/a/b"}},
		{[]string{"./a", "./a/b/..."}, []string{"example.com/main/a", "example.com/main/a/b"}},
		{[]string{"example.com/main/a/..."}, []string{"example.com/main/a", "example.com/main/a/b"}},
		{[]string{"example.com/main/a/b"}, []string{"example.com/main/a/b"}},
		{[]string{"./plan9/..."}, nil},
		{[]string{"./nowhere"}, []string{"error"}},
		{[]string{"./onlytests"}, nil},
		{[]string{"std", "cmd"}, nil},
		{[]string{"work"}, []string{"example.com/main", "example.com/main/a", "example.com/main/a/b"}},
		{[]string{"./nowhere", "std"}, []string{"error"}},
		{[]string{"example.com/elsewhere"}, []string{"error"}},
	} {
		var got []string
		roots, err := newLoader(t, dir, nil).Roots(t.Context(), test.patterns...)
		if err != nil {
			got = []string{"error"}
		}
		for _, p := range roots {
			got = append(got, p.Path)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", test.patterns, err, diff)
		}
	}
}

// TestBrokenBelow: a module below that cannot be read is a finding, and no mistake of the rest.
func TestBrokenBelow(t *testing.T) {
	dir := tree(t, patternTree)
	l := newLoader(t, dir, nil)
	if roots, err := l.Roots(t.Context(), "./a/..."); err != nil || len(roots) != 2 {
		t.Errorf("got %v, %v", roots, err)
	}
	if found := l.Findings(); len(found) != 1 || found[0].Fatal || found[0].File != filepath.Join(dir, "a", "b", "broken", "go.mod") {
		t.Errorf("got %v", found)
	}
}

// TestImportedRoots: packages of another module that an import path names see the versions of the module in the working
// folder, as with go list, and not those that their own go.mod requires.
func TestImportedRoots(t *testing.T) {
	dir := tree(t, `
-- main/go.mod --
module example.com/main
go 1.26
require (
	example.com/api v1.0.0
	example.com/dep v1.2.0
)
-- main/main.go --
package main
-- modcache/example.com/api@v1.0.0/go.mod --
module example.com/api
go 1.26
require example.com/dep v1.0.0
-- modcache/example.com/api@v1.0.0/v1/v1.go --
package v1

import "example.com/dep"

type All struct{ Dep dep.T }
-- modcache/example.com/dep@v1.0.0/dep.go --
package dep

type T string
-- modcache/example.com/dep@v1.2.0/dep.go --
package dep

type T struct{}
`)
	for pattern, want := range map[string]string{
		"example.com/api/v1":  "modcache/example.com/dep@v1.2.0",
		"example.com/api/...": "modcache/example.com/dep@v1.2.0",
		filepath.Join(dir, "modcache/example.com/api@v1.0.0/v1"): "modcache/example.com/dep@v1.0.0",
	} {
		roots, err := newLoader(t, filepath.Join(dir, "main"), nil).Roots(t.Context(), pattern)
		if err != nil || len(roots) != 1 || roots[0].Path != "example.com/api/v1" {
			t.Fatalf("%s: %v, %v", pattern, roots, err)
		}
		got, err := filepath.Rel(dir, roots[0].Decl("All").Type().StructFields()[0].Type.Decl.Package.Dir)
		if err != nil || filepath.ToSlash(got) != want {
			t.Errorf("%s: the type is in %s, not in %s: %v", pattern, got, want, err)
		}
	}
}

func TestNoModule(t *testing.T) {
	dir := tree(t, "-- x.go --\npackage x\n")
	if _, err := newLoader(t, dir, nil).Roots(t.Context(), "./..."); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("got %v", err)
	}
}

func TestSyntaxErrorsAreFindings(t *testing.T) {
	dir := tree(t, "-- go.mod --\nmodule m\ngo 1.26\n-- a.go --\npackage m\ntype A struct {\n-- b.go --\npackage m\n// +max=x\ntype B struct {\n\t// +max=many\n\tF int\n}\n")
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	roots[0].Decl("B").Fields()
	var got []string
	for _, f := range l.Findings() {
		got = append(got, filepath.Base(f.File)+": "+f.Message)
	}
	want := []string{"a.go: expected ';', found 'EOF'", "a.go: expected '}', found 'EOF'", `b.go: +max: expected an integer, found "many"`}
	if !slices.Equal(got, want) || !roots[0].Broken() {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStringConstants(t *testing.T) {
	dir := tree(t, `
-- go.mod --
module m
go 1.26
-- types.go --
package m

type T string

const A T = "a"
-- values.go --
package m

const (
	B, C   T = "b", "c"
	untyped  = "u"
	Call   T = T("call")
	Other  string = "o"
)
`)
	roots, err := newLoader(t, dir, nil).Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	got := roots[0].Decl("T").StringConstants()
	slices.Sort(got)
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

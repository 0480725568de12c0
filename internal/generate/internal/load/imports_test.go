package load_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const importTree = `
-- go.mod --
module example.com/m

go 1.26

require (
	example.com/dep v1.0.0
	example.com/away v1.0.0
	example.com/gone v1.0.0
)
replace example.com/gone => ./gone
-- good/good.go --
package good

import (
	"C"
	"fmt"
	"unsafe"

	"example.com/away/elsewhere"
	"example.com/dep"
	"example.com/m/good/internal/mine"
)
-- good/internal/mine/mine.go --
package mine

import "example.com/m/leaf"
-- good/note.go --
package documentation
-- leaf/leaf.go --
package leaf
-- two/a.go --
package two

import "example.com/m/two/b"
-- two/b/b.go --
package b

import "example.com/m/two/c"
-- two/c/c.go --
package c

type T struct{}
-- two/c/d.go --
package c

import (
	"example.com/m/two/b"
	"example.com/m/two/b"
)
-- self/self.go --
package self

import "example.com/m/self"
-- outside/outside.go --
package outside

import (
	"example.com/dep"
	"example.com/dep/excluded"
	"example.com/dep/program"
	"example.com/dep/tests"
	"example.com/gone"
	"example.com/m/good/internal/mine"
	"example.com/m/none"
	"example.com/none"
	"fmtt"
	"internal/abi"
	_ "../leaf"
)
-- white space/w.go --
package w
-- names/a.go --
package names
-- names/b.go --
// Doc.
package other
-- names/c.go --
package names
-- modcache/example.com/dep@v1.0.0/go.mod --
module example.com/dep
-- modcache/example.com/dep@v1.0.0/dep.go --
package dep

import "example.com/notrequired"
-- modcache/example.com/dep@v1.0.0/excluded/x.go --
//go:build never

package excluded
-- modcache/example.com/dep@v1.0.0/tests/x_test.go --
package tests
-- modcache/example.com/dep@v1.0.0/program/main.go --
package main
`

// TestCheckImports: imports that do not build are told where they stand.
func TestCheckImports(t *testing.T) {
	for root, want := range map[string][]string{
		"./good": nil,
		"./leaf": nil,
		"./two":  {"two/c/d.go:4:2: import cycle: example.com/m/two/b → example.com/m/two/c → example.com/m/two/b"},
		"./self": {"self/self.go:3:8: import cycle: example.com/m/self → example.com/m/self"},
		"./outside": {
			"outside/outside.go:5:2: package example.com/dep/excluded is not in a required module, or has no file for this platform",
			"outside/outside.go:6:2: import of example.com/dep/program: it is a program, not an importable package",
			"outside/outside.go:7:2: package example.com/dep/tests is not in a required module, or has no file for this platform",
			"outside/outside.go:8:2: package example.com/gone is not in a required module, or has no file for this platform",
			"outside/outside.go:9:2: import of example.com/m/good/internal/mine: it is internal to other packages",
			"outside/outside.go:10:2: package example.com/m/none is not in a required module, or has no file for this platform",
			"outside/outside.go:11:2: package example.com/none is not in a required module, or has no file for this platform",
			"outside/outside.go:12:2: package fmtt is not in a required module, or has no file for this platform",
			"outside/outside.go:13:2: import of internal/abi: it is internal to other packages",
			"outside/outside.go:14:4: import of \"../leaf\": a module cannot have relative imports",
		},
		"./white space": {"white space/w.go:1:1: malformed import path \"example.com/m/white space\": invalid char ' '"},
		"./names":       {"names/b.go:2:9: package other: other files of this folder are of package names"},
	} {
		t.Run(root, func(t *testing.T) {
			if diff := cmp.Diff(want, importFindings(t, tree(t, importTree), root, true)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDoubtedImports: where there is a go command it has the last word.
func TestDoubtedImports(t *testing.T) {
	const archive = `
-- go.mod --
module example.com/m

go 1.26
-- a/a.go --
package a

import (
	"example.com/m/excluded"
	"example.com/m/tests"
	"example.com/none"
	"fmtt"
)
-- excluded/x.go --
//go:build never

package excluded
-- tests/x_test.go --
package tests
`
	found := strings.Join(importFindings(t, tree(t, archive), "./a", false), "\n")
	for _, want := range []string{
		"a/a.go:4:2: build constraints exclude all Go files in ",
		"a/a.go:6:2: no required module provides package example.com/none; to add it: go get example.com/none",
		"a/a.go:7:2: package fmtt is not in std",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in\n%s", want, found)
		}
	}
	if strings.Contains(found, "tests") { // which the go command takes for an empty package
		t.Error(found)
	}
}

// importFindings are the findings about the imports of a package, with or without a
// go command.
func importFindings(t *testing.T, dir, root string, alone bool) []string {
	t.Helper()
	if alone {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("GOROOT", strings.TrimSpace(string(out)))
		t.Setenv("CGO_ENABLED", "1")
		t.Setenv("PATH", "")
	}
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range roots {
		p.CheckSyntax()
	}
	l.CheckImports(roots)
	var found []string
	for _, f := range l.Findings() {
		rel, err := filepath.Rel(dir, f.File)
		if err != nil || !f.Fatal {
			t.Error(f, err)
		}
		found = append(found, fmt.Sprintf("%s:%d:%d: %s", filepath.ToSlash(rel), f.Line, f.Column, f.Message))
	}
	return found
}

// TestChecksumsOfWorkspace: the go command is asked, and does not complete the checksums of the workspace.
func TestChecksumsOfWorkspace(t *testing.T) {
	dir := tree(t, `
-- go.work --
go 1.26
use (
	./a
	b
)
replace example.com/local => ./modcache/local
-- a/go.mod --
module example.com/a
go 1.26
require (
	example.com/dep v1.0.0
	example.com/local v1.0.0
)
-- a/a.go --
package a
import (
	_ "example.com/dep"
	_ "example.com/local"
	_ "example.com/b"
	_ "example.com/nowhere"
)
-- b/go.mod --
module example.com/b
go 1.26
-- b/b.go --
package b
-- modcache/local/go.mod --
module example.com/local
-- modcache/local/l.go --
package local
`+dependency)
	t.Setenv("GONOSUMDB", "*")
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), "./a")
	if err != nil {
		t.Fatal(err)
	}
	l.CheckImports(roots)
	findings := l.Findings()
	if len(findings) != 1 || !strings.Contains(findings[0].Message, "example.com/nowhere") {
		t.Errorf("findings are %v", findings)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.work.sum")); err == nil {
		t.Error("go.work.sum was written")
	}
}

// TestNameNotUTF8: the go command garbles such a name, and then does not find the file.
func TestNameNotUTF8(t *testing.T) {
	dir := tree(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.24\n-- api.go --\npackage api\n")
	if err := os.WriteFile(filepath.Join(dir, "b\xff.go"), []byte("package api\n"), 0o600); err != nil {
		t.Skip("this file system has no such names:", err)
	}
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	l.CheckImports(roots)
	if findings := l.Findings(); len(findings) != 1 || !findings[0].Fatal {
		t.Errorf("got %v", findings)
	}
}

// TestModFileStays: a go command that may complete go.mod and go.sum, which users set for themselves, does not do so
// for those who only generate.
func TestModFileStays(t *testing.T) {
	dir := tree(t, `
-- go.mod --
module example.com/m

go 1.26

replace example.com/local => ./local
-- m.go --
package m

import (
	_ "example.com/local"
	_ "example.com/nowhere"
)
-- local/go.mod --
module example.com/local
-- local/l.go --
package local
`)
	t.Setenv("GOFLAGS", "-mod=mod")
	before, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	l.CheckImports(roots)
	findings := l.Findings()
	if len(findings) != 1 || !strings.Contains(findings[0].Message, "example.com/nowhere") {
		t.Errorf("findings are %v", findings)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(after) != string(before) {
		t.Errorf("go.mod was changed to %s, %v", after, err)
	}
}

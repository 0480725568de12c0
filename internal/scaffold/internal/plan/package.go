package plan

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// PackageName is the name of the package in a folder, as the Go files there have it; "" when there are none. Files of
// package main count in no other folder: they are programs beside a package that builds leave out.
func (p *Plan) PackageName(dir string) string { return p.packageBeside(dir, "") }

// packageBeside is [Plan.PackageName] by the files other than one.
func (p *Plan) packageBeside(dir, other string) string {
	entries, err := p.entries(dir)
	if err != nil {
		return "" // what cannot be read is reported when it is written
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return testsLast(a) - testsLast(b) })
	for _, e := range entries {
		if path.Ext(e.Name()) != ".go" || e.IsDir() || e.Name() == other {
			continue
		}
		data, err := p.view.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		if name, _ := clause(data); name != "" && name != "main" && name != "documentation" {
			return strings.TrimSuffix(name, "_test")
		}
	}
	return ""
}

// entries lists a folder of the project. What a repository says may lead elsewhere, where nothing is.
func (p *Plan) entries(dir string) ([]fs.DirEntry, error) {
	if dir = path.Clean(dir); !fs.ValidPath(dir) {
		return nil, fs.ErrNotExist
	}
	return p.view.ReadDir(dir)
}

func testsLast(e fs.DirEntry) int {
	if strings.HasSuffix(e.Name(), "_test.go") {
		return 1
	}
	return 0
}

// clause is the name in a Go file's package clause, and where it begins.
func clause(src []byte) (name string, at int) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.PackageClauseOnly)
	if err != nil {
		return "", 0
	}
	return file.Name.Name, fset.Position(file.Name.Pos()).Offset
}

// joining is the content of a new Go file as a part of the package that its folder has already.
func (p *Plan) joining(file string, content []byte) []byte {
	if path.Ext(file) != ".go" || p.NamesOnly() {
		return content
	}
	name, at := clause(content)
	own := strings.TrimSuffix(name, "_test")
	there := ""
	if name != "" && name != "main" {
		there = p.packageBeside(path.Dir(file), path.Base(file))
	}
	if there == "" || there == own {
		return content
	}
	head := bytes.Replace(content[:at], []byte("// Package "+own+" "), []byte("// Package "+there+" "), 1)
	return slices.Concat(head, []byte(there), content[at+len(own):])
}

// LeaveMissed says what is not made, if no call of a generator reads a folder, and how to have it read.
func (p *Plan) LeaveMissed(by codebase.Generation, generator, folder, consequence string) {
	if missed, is := by.Missed(generator, folder); is {
		p.Leave(fmt.Sprintf("%s:%d: %s reads %s, and %s; add to the call:\npaths=./%s/...",
			missed.At().File, missed.Line, generator, strings.Join(missed.Paths, ", "), consequence, folder))
	}
}

package plan

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// PackageName is the name of the package in a folder, as the Go files there have it; "" when there are none. Files of
// package main count in no other folder: they are programs beside a package that builds leave out.
func (p *Plan) PackageName(dir string) string { return p.packageBeside(dir, "") }

// packageBeside is [Plan.PackageName] by the files other than one.
func (p *Plan) packageBeside(dir, other string) (found string) {
	p.eachGo(dir, func(file string, src []byte) bool {
		if name, _ := clause(src); path.Base(file) != other && name != "" && name != "main" && name != "documentation" {
			found = strings.TrimSuffix(name, "_test")
		}
		return found == ""
	})
	return found
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

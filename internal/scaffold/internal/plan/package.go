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

// PackageName returns the name of the package in a folder, or "" if it has no Go files. It ignores files of package
// main and documentation, which may lie beside another package.
func (p *Plan) PackageName(dir string) string { return p.packageBeside(dir, "") }

// packageBeside is [Plan.PackageName] without the file named other.
func (p *Plan) packageBeside(dir, other string) (found string) {
	p.eachGo(dir, func(file string, src []byte) bool {
		if name, _ := clause(src); path.Base(file) != other && name != "" && name != "main" && name != "documentation" {
			found = strings.TrimSuffix(name, "_test")
		}
		return found == ""
	})
	return found
}

// clause returns the name in a package clause, and its offset.
func clause(src []byte) (name string, at int) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.PackageClauseOnly)
	if err != nil {
		return "", 0
	}
	return file.Name.Name, fset.Position(file.Name.Pos()).Offset
}

// joining returns the content of a new Go file with the package name that its folder has already.
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

// LeaveMissed reports that no call of the generator reads the folder, with the consequence and the missing argument.
func (p *Plan) LeaveMissed(by codebase.Generation, generator, folder, consequence string) {
	if missed, is := by.Missed(generator, folder); is {
		p.Leave(fmt.Sprintf("%s:%d: %s reads %s, and %s; add to the call:\npaths=./%s/...",
			missed.At().File, missed.Line, generator, strings.Join(missed.Paths, ", "), consequence, folder))
	}
}

// Package gofile reads Go files of a project: parsing with a refusal that its author understands, the names
// that packages have in a file, and formatting that is kept if there was one.
package gofile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// runsSpecs matches the call of any version of Ginkgo; version 1 has RunSpecsWithDefaultAndCustomReporters besides.
var runsSpecs = lazy.Regexp(`\bRunSpecs\w*\(`)

// UsesGinkgo reports whether a test suite, as kubebuilder makes them, runs specs.
func UsesGinkgo(src []byte) bool { return runsSpecs().Match(src) }

// Parse parses a file of the project; what is wrong with it is reported with its place.
func Parse(file string, src []byte, mode parser.Mode) (*ast.File, *token.FileSet, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, mode)
	if err != nil {
		return nil, nil, &report.Error{What: "the file cannot be parsed as Go", Where: file + ":1", Hint: "nothing was changed; correct it and run the command again", Next: "go vet " + shellword.Quote("./"+path.Dir(file)), Err: err}
	}
	return parsed, fset, nil
}

// Declares returns the first of the names that a file declares for its package as a function or variable, or "".
func Declares(src []byte, names ...string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	if err != nil {
		return ""
	}
	for _, name := range names {
		if file.Scope.Lookup(name) != nil {
			return name
		}
	}
	return ""
}

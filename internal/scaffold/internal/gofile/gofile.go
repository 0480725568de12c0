// Package gofile reads Go files of a project: it parses them with errors for their author, resolves the names of
// packages in a file, and keeps the format of files that are formatted.
package gofile

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// runsSpecs matches the call that runs Ginkgo specs. Version 1 also has RunSpecsWithDefaultAndCustomReporters.
var runsSpecs = lazy.Regexp(`\bRunSpecs\w*\(`)

// UsesGinkgo reports whether a test suite runs Ginkgo specs, as kubebuilder's do.
func UsesGinkgo(src []byte) bool { return runsSpecs().Match(src) }

// Parse parses a file of the project. Its error is for the user.
func Parse(file string, src []byte, mode parser.Mode) (*ast.File, *token.FileSet, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, mode)
	if err != nil {
		return nil, nil, &report.Error{Class: report.BadProject, What: "the file cannot be parsed as Go", Where: file + ":1", Hint: "nothing was changed; correct it and run the command again", Next: "go vet " + shellword.Quote("./"+path.Dir(file)), Err: err}
	}
	return parsed, fset, nil
}

// Declares returns the first of the names that a file declares in its package's scope, or "".
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

// KeepFormat formats Go code after a change, if it was formatted before.
func KeepFormat(path string, before, after []byte) []byte {
	if bytes.Equal(before, after) || !strings.HasSuffix(path, ".go") {
		return after
	}
	if formatted, err := format.Source(before); err != nil || !bytes.Equal(formatted, before) {
		return after
	}
	if formatted, err := format.Source(after); err == nil {
		return formatted
	}
	return after
}

// Unparsable refuses a change after which a Go file no longer parses; else it returns nil. An insertion point may be in
// the wrong place.
func Unparsable(file string, before, after []byte) *report.Error {
	if bytes.Equal(before, after) || !strings.HasSuffix(file, ".go") {
		return nil
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", after, parser.SkipObjectResolution)
	mistakes, is := errors.AsType[scanner.ErrorList](err)
	if !is {
		return nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", before, parser.SkipObjectResolution); err != nil {
		return nil // it did not parse before
	}
	return &report.Error{
		Class: report.BadProject,
		What:  "the file would not be Go any more", Where: fmt.Sprintf("%s:%d", file, mistakes[0].Pos.Line), Err: errors.New(mistakes[0].Msg),
		Hint: "nothing was changed; an insertion point, a comment with +kubebuilder:scaffold, is not where its code belongs: move it back, and run the command again",
	}
}

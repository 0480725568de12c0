// Package gofile reads Go files of a project: parsing with a refusal that its author understands, the names
// that packages have in a file, and formatting that is kept if there was one.
package gofile

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

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

// reconciles matches the method of a reconciler, whatever it calls its package of requests.
var reconciles = lazy.Regexp(`(?m)^func \([^)]*\) Reconcile\([^,()]*,[^,()]*\bRequest\)`)

// HasReconciler reports whether a file has the method by which a controller handles a request.
func HasReconciler(src []byte) bool {
	return bytes.Contains(src, []byte(") Reconcile(")) && reconciles().Match(src)
}

// DeclaresStruct reports whether a file declares a struct type of a name.
func DeclaresStruct(src []byte, name string) bool { return StructLine(src, name) > 0 }

// StructLine is the line at which a file declares a struct type of a name, or 0.
func StructLine(src []byte, name string) int {
	pattern := regexp.MustCompile(regexp.QuoteMeta(name) + `\s+struct\b`) // begins with plain text, which is found at once
	for _, at := range pattern.FindAllIndex(src, -1) {
		if line := src[bytes.LastIndexByte(src[:at[0]], '\n')+1 : at[0]]; beginsType(string(line)) {
			return 1 + bytes.Count(src[:at[0]], []byte("\n"))
		}
	}
	return 0
}

// beginsType reports whether a line that so begins goes on with the name of a type, of one declaration or of several.
func beginsType(line string) bool {
	keyword := strings.TrimLeft(line, " \t")
	return keyword == "" || keyword != "type" && strings.TrimRight(keyword, " \t") == "type"
}

// Declares returns the first of the names that a file declares for its package as a function or variable, or "".
func Declares(src []byte, names ...string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	for _, d := range file.Decls {
		for _, name := range declared(d) {
			if slices.Contains(names, name) {
				return name
			}
		}
	}
	return ""
}

// declared are the names of a function, or of variables.
func declared(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range value.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// HasMetadata reports whether a struct type that a file declares has ObjectMeta, as all objects have. A type that
// another one is made of, or that does not parse, is taken to have it.
func HasMetadata(src []byte, name string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return true
	}
	has := true
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != name {
			return true
		}
		if typ, ok := spec.Type.(*ast.StructType); ok {
			has = embeds(typ, "ObjectMeta")
		}
		return false
	})
	return has
}

// Structs reports whether a file declares struct types, and lists those that have TypeMeta and ObjectMeta, as all
// kinds of objects have.
func Structs(src []byte) (some bool, objects []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return false, nil
	}
	for _, decl := range file.Decls {
		types, ok := decl.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			declared := spec.(*ast.TypeSpec)
			typ, ok := declared.Type.(*ast.StructType)
			some = some || ok
			if ok && embeds(typ, "TypeMeta") && embeds(typ, "ObjectMeta") {
				objects = append(objects, declared.Name.Name)
			}
		}
	}
	return some, objects
}

// embeds reports whether a struct has a field with a type of that name, whatever package it is of.
func embeds(typ *ast.StructType, name string) bool {
	return slices.ContainsFunc(typ.Fields.List, func(field *ast.Field) bool {
		switch typ := field.Type.(type) {
		case *ast.SelectorExpr:
			return typ.Sel.Name == name
		case *ast.Ident:
			return typ.Name == name
		}
		return false
	})
}

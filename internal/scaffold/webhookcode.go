package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// A declaration is code that stands at the end of a Go file: a type with its methods, or
// a function. A file that declares name has it already, whatever became of the rest.
type declaration struct {
	name string
	code string
}

func (d declaration) id() string { return "declare " + d.name }

func (d declaration) put(file string, src []byte) ([]byte, error) {
	parsed, _, err := parseGo(file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if declares(parsed, d.name) {
		return src, nil
	}
	return slices.Concat(bytes.TrimRight(src, "\n"), []byte("\n\n"+d.code)), nil
}

// take removes the code if it is as it was put.
func (d declaration) take(src []byte) ([]byte, int) {
	codes := []string{d.code}
	if formatted, err := format.Source([]byte(d.code)); err == nil {
		codes = append(codes, string(formatted))
	}
	for _, code := range codes {
		if before, after, ok := bytes.Cut(src, []byte("\n"+code)); ok {
			return slices.Concat(before, after), 0
		}
	}
	parsed, fset, err := parseGo("", src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	for _, decl := range parsed.Decls {
		if slices.Contains(declared(decl), d.name) {
			return src, fset.Position(decl.Pos()).Line
		}
	}
	return src, 0
}

// declares reports whether a file declares a type or function.
func declares(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool { return slices.Contains(declared(d), name) })
}

// declared are the types and functions that a declaration declares.
func declared(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var names []string
		for _, s := range d.Specs {
			if t, ok := s.(*ast.TypeSpec); ok {
				names = append(names, t.Name.Name)
			}
		}
		return names
	}
	return nil
}

// A builderCall is a call in the chain that a function makes webhooks with, such as
// WithDefaulter(&…{}); it stands before Complete.
type builderCall struct {
	function string // Setup<Kind>WebhookWithManager
	method   string
	argument string
}

func (c builderCall) id() string { return c.function + " " + c.method }

func (c builderCall) call() string { return c.method + "(" + c.argument + ")" }

func (c builderCall) put(file string, src []byte) ([]byte, error) {
	parsed, fset, err := parseGo(file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if c.find(parsed, c.method) != nil {
		return src, nil
	}
	complete := c.find(parsed, "Complete")
	if complete == nil {
		return nil, &report.Error{
			What: fmt.Sprintf("there is no function %s that ends a chain of calls with Complete()", c.function), Where: fmt.Sprintf("%s:%d", file, 1+bytes.Count(src, []byte("\n"))),
			Hint: "nothing was changed; insert this into the chain and run the command again:\n" + c.call() + ".",
		}
	}
	at := fset.Position(complete.Pos()).Offset
	before := src[:at]
	indent := before[bytes.LastIndexByte(before, '\n')+1:]
	separator := ".\n" + string(indent)
	if strings.TrimSpace(string(indent)) != "" { // all on one line
		separator = "."
	}
	return slices.Concat(before, []byte(c.call()+separator), src[at:]), nil
}

// take removes the call if it is as it was put.
func (c builderCall) take(src []byte) ([]byte, int) {
	parsed, fset, err := parseGo("", src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	method := c.find(parsed, c.method)
	if method == nil {
		return src, 0
	}
	at := fset.Position(method.Pos())
	rest, ok := bytes.CutPrefix(src[at.Offset:], []byte(c.call()+"."))
	if !ok {
		return src, at.Line
	}
	return slices.Concat(src[:at.Offset], bytes.TrimLeft(rest, " \t\r\n")), 0
}

// find returns the name of a method that is called in the function's chain.
func (c builderCall) find(file *ast.File, method string) *ast.Ident {
	var found *ast.Ident
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != c.function {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == method {
					found = s.Sel
				}
			}
			return found == nil
		})
	}
	return found
}

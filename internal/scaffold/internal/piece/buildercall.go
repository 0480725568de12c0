package piece

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// A BuilderCall is a call in the chain that builds webhooks, such as WithDefaulter(&…{}). It is inserted before
// Complete.
type BuilderCall struct {
	Function string // Setup<Kind>WebhookWithManager
	Method   string
	Argument string
}

// ID implements plan.Piece.
func (c BuilderCall) ID() string { return c.Function + " " + c.Method }

func (c BuilderCall) call() string { return c.Method + "(" + c.Argument + ")" }

// Insert implements plan.Piece.
func (c BuilderCall) Insert(file string, src []byte) ([]byte, error) {
	parsed, fset, err := gofile.Parse(file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if c.find(parsed, c.Method) != nil {
		return src, nil
	}
	complete := c.find(parsed, "Complete")
	if complete == nil {
		return nil, &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf("no function %s ends a chain of calls with Complete()", c.Function), Where: fmt.Sprintf("%s:%d", file, 1+bytes.Count(src, []byte("\n"))),
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

// Remove implements plan.Piece.
func (c BuilderCall) Remove(src []byte) ([]byte, int) {
	parsed, fset, err := gofile.Parse("", src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	method := c.find(parsed, c.Method)
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

// find returns the name at which the function's chain calls a method, or nil.
func (c BuilderCall) find(file *ast.File, method string) *ast.Ident {
	var found *ast.Ident
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != c.Function {
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

// A WrappedArgument wraps the only argument of a method: Complete(r) becomes Complete(manager.Traced(r)). A file
// without such a call stays as it is.
type WrappedArgument struct{ Method, Argument, Around string }

// ID implements plan.Piece.
func (w WrappedArgument) ID() string { return w.Method + " " + w.Around }

func (w WrappedArgument) plain() string { return w.Method + "(" + w.Argument + ")" }

func (w WrappedArgument) wrapped() string { return w.Method + "(" + w.Around + "(" + w.Argument + "))" }

// Insert implements plan.Piece.
func (w WrappedArgument) Insert(_ string, src []byte) ([]byte, error) {
	return regexp.MustCompile(`\b`+regexp.QuoteMeta(w.plain())).ReplaceAllLiteral(src, []byte(w.wrapped())), nil
}

// Remove implements plan.Piece.
func (w WrappedArgument) Remove(src []byte) ([]byte, int) {
	out := bytes.ReplaceAll(src, []byte(w.wrapped()), []byte(w.plain()))
	if at := bytes.Index(out, []byte(w.Around+"(")); at >= 0 {
		return src, 1 + bytes.Count(out[:at], []byte("\n"))
	}
	return out, 0
}

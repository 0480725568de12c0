package codebase

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// HasFlag reports whether the project's code defines a flag. Libraries for flags differ in how: a name is a string
// literal or a constant, in a call, a table or the tag of a field. So every such literal counts, except in calls that
// look flags up, log or set defaults.
func (c *Codebase) HasFlag(name string) (bool, error) {
	files, err := c.GoFiles()
	return slices.ContainsFunc(files, func(file string) bool { return c.anyIn(file, name, namesText(name, usesFlags().MatchString)) }), err
}

// Calls reports whether the project's code calls a function or method of that name.
func (c *Codebase) Calls(name string) (bool, error) {
	files, err := c.GoFiles()
	calls := func(n ast.Node) (found, enter bool) {
		call, is := n.(*ast.CallExpr)
		return is && nameOf(call.Fun) == name, true
	}
	return slices.ContainsFunc(files, func(file string) bool { return c.anyIn(file, name, calls) }), err
}

// SetsField reports whether the project's code sets a field of that name to anything but false: in a literal, by an
// assignment, or by handing out its address.
func (c *Codebase) SetsField(name string) (bool, error) {
	files, err := c.GoFiles()
	return slices.ContainsFunc(files, func(file string) bool { return c.anyIn(file, name, setsField(name)) }), err
}

// SetsOption reports whether the project's code sets a field of that name in a literal of a type called Options.
func (c *Codebase) SetsOption(name string) (bool, error) {
	files, err := c.GoFiles()
	sets := func(n ast.Node) (found, enter bool) {
		literal, is := n.(*ast.CompositeLit)
		return is && nameOf(literal.Type) == "Options" && slices.ContainsFunc(literal.Elts, func(e ast.Expr) bool {
			pair, _ := e.(*ast.KeyValueExpr)
			return pair != nil && nameOf(pair.Key) == name
		}), true
	}
	return slices.ContainsFunc(files, func(file string) bool { return c.anyIn(file, name, sets) }), err
}

// ReadsVariable reports whether Go code names a variable of the environment.
func ReadsVariable(src []byte, name string) bool {
	return anyNode(src, name, namesText(name, func(string) bool { return false }))
}

// largestParsed bounds the size of a file that is parsed to look for flags and fields. Parsing takes some fifty times
// the memory.
const largestParsed = 1 << 20

func (c *Codebase) anyIn(file, text string, visit visitor) bool {
	src, err := c.view.ReadFile(file)
	return err == nil && len(src) <= largestParsed && anyNode(src, text, visit)
}

// usesFlags matches functions that take the name of a flag without defining it.
var usesFlags = lazy.Regexp(`^(Lookup|Changed|Get.*|Set.*|Mark.*|Bind.*|Info.*|Error.*|Debug.*|Warn.*|Print.*|Fatal.*|WithValues)$`)

// A visitor reports whether a node is the one to find, and otherwise whether to look into it.
type visitor func(n ast.Node) (found, enter bool)

// namesText finds a string literal that is name, also as a value in the tag of a field. Arguments of calls to passed
// functions do not count.
func namesText(name string, passed func(function string) bool) visitor {
	inTag := ":" + strconv.Quote(name)
	return func(n ast.Node) (bool, bool) {
		switch n := n.(type) {
		case *ast.CallExpr:
			return false, !passed(nameOf(n.Fun))
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			return n.Kind == token.STRING && err == nil && (text == name || strings.Contains(text, inTag)), false
		}
		return false, true
	}
}

// setsField finds what sets a field of that name.
func setsField(name string) visitor {
	return func(n ast.Node) (bool, bool) {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			return key != nil && key.Name == name && nameOf(n.Value) != "false", true
		case *ast.UnaryExpr:
			field, _ := n.X.(*ast.SelectorExpr)
			return n.Op == token.AND && field != nil && field.Sel.Name == name, true
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				field, _ := left.(*ast.SelectorExpr)
				if field != nil && field.Sel.Name == name && (len(n.Rhs) != len(n.Lhs) || nameOf(n.Rhs[i]) != "false") {
					return true, false
				}
			}
		}
		return false, true
	}
}

// anyNode reports whether visit finds a node of Go code. Code without the text is not parsed.
func anyNode(src []byte, text string, visit visitor) (found bool) {
	if !bytes.Contains(src, []byte(text)) {
		return false
	}
	file, _ := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution) // as far as it is Go
	if file == nil {
		return false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if found || n == nil {
			return false
		}
		var enter bool
		found, enter = visit(n)
		return enter && !found
	})
	return found
}

// nameOf returns the last name of an expression such as flags.Address; "" for other expressions.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

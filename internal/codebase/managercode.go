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

// HasFlag reports whether the project's code defines a flag. It finds functions like those of packages flag and pflag,
// the field Name of urfave/cli's flags, and struct tags. The name may be a constant.
func (c *Codebase) HasFlag(name string) (bool, error) {
	quoted := strconv.Quote(name)
	is := func(e ast.Expr) bool { return isLiteral(e, quoted) }
	var constants []string
	found, err := c.anyNode(name, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return definesFlag(n, is)
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			return key != nil && key.Name == "Name" && is(n.Value)
		case *ast.Field:
			return n.Tag != nil && slices.ContainsFunc([]string{"name:", "long:", "flag:"}, func(key string) bool { return strings.Contains(n.Tag.Value, key+quoted) })
		case *ast.ValueSpec:
			if i := slices.IndexFunc(n.Values, is); i >= 0 && i < len(n.Names) {
				constants = append(constants, n.Names[i].Name)
			}
		}
		return false
	})
	for _, constant := range constants {
		if found || err != nil {
			break
		}
		found, err = c.anyNode(constant, func(n ast.Node) bool {
			call, _ := n.(*ast.CallExpr)
			return call != nil && definesFlag(call, func(e ast.Expr) bool { return nameOf(e) == constant })
		})
	}
	return found, err
}

// SetsField reports whether the project's code sets a field of this name to anything but false, in a literal or an
// assignment.
func (c *Codebase) SetsField(name string) (bool, error) {
	return c.anyNode(name, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			return key != nil && key.Name == name && nameOf(n.Value) != "false"
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				field, _ := left.(*ast.SelectorExpr)
				if field != nil && field.Sel.Name == name && (len(n.Rhs) != len(n.Lhs) || nameOf(n.Rhs[i]) != "false") {
					return true
				}
			}
		}
		return false
	})
}

// ReadsVariable reports whether Go code may read an environment variable: its name is an argument or an assigned value.
func ReadsVariable(src []byte, name string) bool {
	quoted := strconv.Quote(name)
	is := func(e ast.Expr) bool { return isLiteral(e, quoted) }
	return anyIn(src, name, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return slices.ContainsFunc(n.Args, is)
		case *ast.ValueSpec:
			return slices.ContainsFunc(n.Values, is)
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Rhs, is)
		}
		return false
	})
}

// flagFunction matches functions that define a flag, such as BoolVar or StringSliceP.
var flagFunction = lazy.Regexp(`^(Text|Bool|Int\d*|Uint\d*|Float\d+|Duration|String|IP|Count|Enum)?(Slice|Array|ToString|Func)?(Var)?P?F?$`)

// definesFlag reports whether a call defines the flag whose name is matches. It may be the second argument.
func definesFlag(call *ast.CallExpr, is func(ast.Expr) bool) bool {
	function := nameOf(call.Fun)
	return function != "" && flagFunction().MatchString(function) && slices.ContainsFunc(call.Args[:min(2, len(call.Args))], is)
}

// anyNode reports whether is holds for a node of the project's code. Files that do not contain text are not parsed.
func (c *Codebase) anyNode(text string, is func(ast.Node) bool) (bool, error) {
	files, err := c.GoFiles()
	return slices.ContainsFunc(files, func(name string) bool {
		src, err := c.view.ReadFile(name)
		return err == nil && anyIn(src, text, is)
	}), err
}

// anyIn is [Codebase.anyNode] for one file.
func anyIn(src []byte, text string, is func(ast.Node) bool) (found bool) {
	if !bytes.Contains(src, []byte(text)) {
		return false
	}
	file, _ := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution) // up to the first mistake
	if file == nil {
		return false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		found = found || n != nil && is(n)
		return !found
	})
	return found
}

func isLiteral(e ast.Expr, quoted string) bool {
	literal, _ := e.(*ast.BasicLit)
	return literal != nil && (literal.Value == quoted || literal.Value == "`"+strings.Trim(quoted, `"`)+"`")
}

// nameOf returns the last name of an expression such as flags.Address, or "".
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// Package wiring finds in Go code what markers show in scaffolded code: where types are registered with a scheme, where
// controllers and webhooks are set up, and the manager's variable. It reads syntax alone.
//
//	place, ok := wiring.SchemePlace(src)
//	name := wiring.Manager(src)
//
// It also removes such code, in the forms that authors and other tools write it.
package wiring

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// A Place is where a line of code belongs in a file.
type Place struct {
	Line   int    // the number of lines above it
	Indent string // of the lines there
	Scheme string // for [SchemePlace]: the expression of the scheme
}

type source struct {
	src  []byte
	fset *token.FileSet
	file *ast.File
}

// read parses a file. It returns nil if the file is not valid Go.
func read(src []byte) *source {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil {
		return nil
	}
	return &source{src: src, fset: fset, file: file}
}

func (s *source) line(pos token.Pos) int { return s.fset.PositionFor(pos, false).Line } // ignores //line comments

func (s *source) text(n ast.Node) string {
	return string(s.src[s.fset.Position(n.Pos()).Offset:s.fset.Position(n.End()).Offset])
}

// indent returns the white space at the start of a line, counted from 1.
func (s *source) indent(line int) string {
	text := bytes.Split(s.src, []byte("\n"))[line-1]
	return string(text[:len(text)-len(bytes.TrimLeft(text, " \t"))])
}

func (s *source) below(n ast.Node) Place {
	return Place{Line: s.line(n.End()), Indent: s.indent(s.line(n.Pos()))}
}

func (s *source) above(n ast.Node) Place {
	line := s.line(n.Pos())
	for _, group := range s.file.Comments { // a comment above a statement belongs to it
		if s.line(group.End()) == line-1 && s.line(group.Pos()) > 1 && s.indent(s.line(group.Pos())) == s.indent(line) {
			line = s.line(group.Pos())
		}
	}
	return Place{Line: line - 1, Indent: s.indent(line)}
}

type statement struct {
	ast.Stmt
	list   []ast.Stmt
	index  int
	body   bool   // the list is the body of the function, not of an inner block
	within string // the name of the declared function
}

func (s statement) next() ast.Stmt {
	if s.index+1 < len(s.list) {
		return s.list[s.index+1]
	}
	return nil
}

// statements calls f with each statement of a block or clause, outer ones first.
func (s *source) statements(f func(statement)) {
	for _, decl := range s.file.Decls {
		within, body := "", (*ast.BlockStmt)(nil)
		if d, ok := decl.(*ast.FuncDecl); ok {
			within, body = d.Name.Name, d.Body
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			var list []ast.Stmt
			switch n := n.(type) {
			case *ast.FuncLit:
				body = n.Body
			case *ast.BlockStmt:
				list = n.List
			case *ast.CaseClause:
				list = n.Body
			case *ast.CommClause:
				list = n.Body
			}
			for i, stmt := range list {
				f(statement{Stmt: stmt, list: list, index: i, body: n == ast.Node(body), within: within})
			}
			return true
		})
	}
}

// innermost returns the statement of the smallest block around a position.
func (s *source) innermost(pos token.Pos) (found statement, ok bool) {
	s.statements(func(stmt statement) {
		if stmt.Pos() <= pos && pos < stmt.End() {
			found, ok = stmt, true
		}
	})
	return found, ok
}

// ofFunction returns the statement of a function's outermost block around a position.
func (s *source) ofFunction(pos token.Pos) (found statement, ok bool) {
	s.statements(func(stmt statement) {
		if stmt.body && stmt.Pos() <= pos && pos < stmt.End() {
			found, ok = stmt, true
		}
	})
	return found, ok
}

// calls calls f with each call on.name(…), where on is a value or a package.
func (s *source) calls(f func(call *ast.CallExpr, on ast.Expr, name string)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				f(call, sel.X, sel.Sel.Name)
			}
		}
		return true
	})
}

// HasMarker reports whether a file has the insertion point, such as "scheme".
func HasMarker(src []byte, marker string) bool {
	s := read(src)
	return s != nil && s.markerLine(marker) > 0
}

// markerLine returns the line of a marker, from 1, or 0.
func (s *source) markerLine(marker string) int {
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if text == "+kubebuilder:scaffold:"+marker || text == "+slipway:scaffold:"+marker {
				return s.line(c.Pos())
			}
		}
	}
	return 0
}

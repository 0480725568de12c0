package wiring

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// A Stranger is a statement that another tool inserted and that its file has not what it takes for.
type Stranger struct {
	Line    int    // of the statement, from 1
	Missing string // the name that is not declared: setupLog or Expect
	What    string // the name of the Go type or the function that is set up; for setupLog
	Package string // the name of the package whose types are registered, and the scheme; for Expect
	Scheme  string

	from, to int // the offsets of what is to be replaced
}

// ExitsWithLog finds set-ups of controllers and webhooks that log an error with setupLog and end the process.
func ExitsWithLog(src []byte) []Stranger {
	return strangers(src, "setupLog", func(s *source, stmt statement) (Stranger, bool) {
		cond, ok := stmt.Stmt.(*ast.IfStmt)
		if !ok || cond.Else != nil || len(cond.Body.List) != 2 {
			return Stranger{}, false
		}
		assigned, ok := cond.Init.(*ast.AssignStmt)
		if !ok || len(assigned.Rhs) != 1 || !mentions(cond.Body.List[0], "setupLog") || !mentions(cond.Body.List[1], "Exit") {
			return Stranger{}, false
		}
		return Stranger{Line: s.line(cond.Body.List[0].Pos()), What: setUpOf(assigned.Rhs[0]), from: s.offset(cond.Body.Lbrace) + 1, to: s.offset(cond.Body.Rbrace)}, true
	})
}

// setUpOf is the name of the reconciler, or of the function, that sets something up.
func setUpOf(expr ast.Expr) (name string) {
	ast.Inspect(expr, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if ok && name == "" && sel.Sel.Name != "SetupWithManager" {
			name = sel.Sel.Name
		}
		return name == ""
	})
	return name
}

// ExpectsSuccess finds registrations of types whose error Gomega is to look at.
func ExpectsSuccess(src []byte) []Stranger {
	return strangers(src, "Expect", func(s *source, stmt statement) (Stranger, bool) {
		next := stmt.next()
		if next == nil || !assignsError(stmt.Stmt) || !looksAtError(next) || !mentions(next, "Expect") {
			return Stranger{}, false
		}
		for _, r := range s.registrations() {
			if stmt.Pos() <= r.call.Pos() && r.call.Pos() < stmt.End() {
				return Stranger{Line: s.line(stmt.Pos()), Package: r.pkg, Scheme: r.scheme, from: s.offset(stmt.Pos()), to: s.offset(next.End())}, true
			}
		}
		return Stranger{}, false
	})
}

// strangers are the statements that find finds in a file that does not declare a name.
func strangers(src []byte, name string, find func(*source, statement) (Stranger, bool)) []Stranger {
	if !bytes.Contains(src, []byte(name)) || importsDot(src) {
		return nil
	}
	s := read(src)
	if s == nil || !slices.ContainsFunc(s.file.Unresolved, func(i *ast.Ident) bool { return i.Name == name }) {
		return nil
	}
	var found []Stranger
	s.statements(func(stmt statement) {
		if one, ok := find(s, stmt); ok {
			one.Missing = name
			found = append(found, one)
		}
	})
	return found
}

// importsDot reports whether names of other packages are in the file, which is answered without all of it.
func importsDot(src []byte) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly)
	return err == nil && slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Name != nil && i.Name.Name == "." })
}

// Replace is the file with a text in place of the statements that what is missing is used in.
func (o Stranger) Replace(src []byte, text string) []byte {
	return slices.Concat(src[:o.from], []byte(text), src[o.to:])
}

// Without is the file without the stranger's lines, and the empty one that came with them.
func (o Stranger) Without(src []byte) []byte {
	before, after := src[:bytes.LastIndexByte(src[:o.from], '\n')+1], src[o.to:]
	if end := bytes.IndexByte(after, '\n'); end >= 0 {
		after = after[end+1:]
	}
	if bytes.HasPrefix(after, []byte("\n")) {
		after = after[1:]
	}
	return slices.Concat(before, after)
}

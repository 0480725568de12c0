package wiring

import (
	"bytes"
	"go/ast"
	"go/parser"
	"slices"
	"strconv"
	"strings"
)

// TakeRegistration removes what registers the types of a package, by its name in the file. If a statement does more
// than that, the file stays as it is and line is the statement's; else line is 0.
func TakeRegistration(src []byte, pkg string) (out []byte, line int) {
	return takeAll(src, func(s *source) []ast.Node {
		var calls []ast.Node
		for _, r := range s.registrations() {
			if r.pkg == pkg {
				calls = append(calls, r.call)
			}
		}
		return calls
	})
}

// TakeSetUp removes what sets up the controller or webhooks that key names, such as controller.CronJobReconciler{,
// controller.NewCronJobReconciler( or webhookv1.SetupCronJobWebhookWithManager(. Line is as in [TakeRegistration].
func TakeSetUp(src []byte, key string) (out []byte, line int) {
	name := strings.TrimRight(key, "({")
	return takeAll(src, func(s *source) []ast.Node {
		var calls []ast.Node
		s.calls(func(call *ast.CallExpr, on ast.Expr, method string) {
			if !isSetUp(method) {
				return
			}
			if s.text(call.Fun) == name {
				calls = append(calls, call)
			}
			ast.Inspect(on, func(n ast.Node) bool {
				if s.constructs(n, name) {
					calls = append(calls, call)
				}
				return true
			})
		})
		ast.Inspect(s.file, func(n ast.Node) bool { // a function of the package itself, as suites of webhooks call it
			call, ok := n.(*ast.CallExpr)
			if !ok || !isSetUp(name) || !isIdent(call.Fun, name) || len(call.Args) != 1 {
				return true
			}
			if _, plain := call.Args[0].(*ast.Ident); plain {
				calls = append(calls, call)
			}
			return true
		})
		return calls
	})
}

// constructs reports whether n is a literal of the type, or a call of the function, with this name.
func (s *source) constructs(n ast.Node, name string) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		return n.Type != nil && s.text(n.Type) == name
	case *ast.CallExpr:
		return s.text(n.Fun) == name
	}
	return false
}

// takeAll removes the statements of all calls that find returns, or none.
func takeAll(src []byte, find func(*source) []ast.Node) (out []byte, line int) {
	s := read(src)
	if s == nil {
		return src, 0
	}
	for {
		calls := find(s)
		if len(calls) == 0 {
			return s.src, 0
		}
		after, ok := s.without(calls[0].(*ast.CallExpr))
		if !ok {
			return src, s.line(calls[0].Pos())
		}
		if s = read(after); s == nil {
			return src, 0
		}
	}
}

// without removes the statement of a call, if the statement consists of the call and the check of its error.
func (s *source) without(call *ast.CallExpr) ([]byte, bool) {
	stmt, ok := s.innermost(call.Pos())
	if !ok || !isOnlyCall(stmt, call) {
		return nil, false
	}
	last := ast.Node(stmt.Stmt)
	if checked := stmt.next(); checked != nil && assignsError(stmt.Stmt) && checksError(checked) {
		last = checked
	}
	first := ast.Node(stmt.Stmt)
	for { // a condition that has no other statements goes too
		outer, ok := s.around(first, last)
		if !ok {
			break
		}
		first, last = outer, outer
	}
	if s.commented(first, last) {
		return nil, false
	}
	return s.withoutLines(s.line(first.Pos()), s.line(last.End())), true
}

// isOnlyCall reports whether a statement does nothing but make the call and check its error.
func isOnlyCall(stmt statement, call *ast.CallExpr) bool {
	switch st := stmt.Stmt.(type) {
	case *ast.ExprStmt:
		return onlyAround(st.X, call)
	case *ast.AssignStmt:
		return len(st.Lhs) == 1 && (isIdent(st.Lhs[0], "_") || assignsError(st)) && st.Rhs[0] == ast.Expr(call)
	case *ast.IfStmt:
		assigned, ok := st.Init.(*ast.AssignStmt)
		return ok && st.Else == nil && len(assigned.Rhs) == 1 && assigned.Rhs[0] == ast.Expr(call)
	}
	return false
}

// onlyAround reports whether an expression is the call, or passes on only its result: Must(call), or
// Expect(call).To(Succeed()).
func onlyAround(expr ast.Expr, call *ast.CallExpr) bool {
	for expr != ast.Expr(call) {
		outer, ok := expr.(*ast.CallExpr)
		if !ok {
			return false
		}
		if len(outer.Args) == 1 && outer.Args[0] == ast.Expr(call) {
			return true
		}
		method, ok := outer.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		expr = method.X
	}
	return true
}

// around returns the if statement whose body consists of these statements.
func (s *source) around(first, last ast.Node) (ast.Node, bool) {
	var found ast.Node
	s.statements(func(stmt statement) {
		cond, ok := stmt.Stmt.(*ast.IfStmt)
		if !ok || cond.Else != nil || len(cond.Body.List) == 0 || cond.Init != nil {
			return
		}
		if cond.Body.List[0] == first && cond.Body.List[len(cond.Body.List)-1] == last && !s.comments(cond.Body, first, last) {
			found = cond
		}
	})
	return found, found != nil
}

// comments reports whether a block has comments outside of these statements.
func (s *source) comments(block *ast.BlockStmt, first, last ast.Node) bool {
	return slices.ContainsFunc(s.file.Comments, func(g *ast.CommentGroup) bool {
		return block.Pos() < g.Pos() && g.End() < block.End() && (g.End() < first.Pos() || last.End() < g.Pos())
	})
}

// commented reports whether there are comments between the first and the last line of statements.
func (s *source) commented(first, last ast.Node) bool {
	return slices.ContainsFunc(s.file.Comments, func(g *ast.CommentGroup) bool {
		return s.line(first.Pos()) <= s.line(g.Pos()) && s.line(g.End()) <= s.line(last.End()) && !isNolint(g.List[0].Text)
	})
}

func isNolint(comment string) bool {
	return strings.HasPrefix(strings.ReplaceAll(comment, " ", ""), "//nolint")
}

// withoutLines removes lines, counted from 1, and the linter's directives above them. If that would leave two empty
// lines, it removes one.
func (s *source) withoutLines(from, to int) []byte {
	lines := bytes.SplitAfter(s.src, []byte("\n"))
	blank := func(line int) bool { return len(bytes.TrimSpace(lines[line-1])) == 0 }
	for from > 1 && isNolint(string(bytes.TrimSpace(lines[from-2]))) {
		from--
	}
	if from > 1 && blank(from-1) && to < len(lines) && (blank(to+1) || bytes.HasPrefix(bytes.TrimSpace(lines[to]), []byte("}"))) {
		from--
	}
	return bytes.Join(slices.Delete(lines, from-1, to), nil)
}

// TakeImport removes the import of a package if it is alone on its line. Line is as in [TakeRegistration].
func TakeImport(src []byte, pkg string) (out []byte, line int) {
	s := read(src)
	if s == nil {
		return src, 0
	}
	for _, spec := range s.file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err != nil || path != pkg {
			continue
		}
		at := s.line(spec.Pos())
		without := s.withoutLines(at, at)
		if left, err := parser.ParseFile(s.fset, "", without, parser.ImportsOnly); err != nil || len(left.Imports) != len(s.file.Imports)-1 {
			return src, at
		}
		return without, 0
	}
	return src, 0
}

package wiring

import (
	"go/ast"
	"slices"
	"strings"
)

// WebhookCondition is the condition under which a file sets up webhooks, in the function that sets up controllers and
// above the place for more: that of all of them. It is "" where they have several, since each is then that of one kind
// alone, where they are set up in another way, and where there are none.
func WebhookCondition(src []byte) string {
	s := read(src)
	if s == nil {
		return ""
	}
	_, body := s.function()
	place := s.markerLine("builder")
	if place == 0 {
		at, _, _ := s.setUpPlace()
		place = at.Line + 1
	}
	var conditions []string
	s.calls(func(call *ast.CallExpr, _ ast.Expr, name string) {
		if !isSetUp(name) || !strings.HasSuffix(name, "WebhookWithManager") {
			return
		}
		outer, ok := s.ofFunction(call.Pos())
		if !ok || body == nil || outer.Pos() < body.Pos() || outer.End() > body.End() || s.line(outer.End()) >= place {
			return
		}
		conditions = append(conditions, s.conditionOf(outer, call))
	})
	if conditions = slices.Compact(conditions); len(conditions) != 1 {
		return ""
	}
	return conditions[0]
}

// conditionOf is the condition of a statement that does nothing else than decide about a call, directly.
func (s *source) conditionOf(outer statement, call *ast.CallExpr) string {
	cond, ok := outer.Stmt.(*ast.IfStmt)
	if !ok || cond.Init != nil || cond.Else != nil {
		return ""
	}
	inner, ok := s.innermost(call.Pos())
	if !ok || !slices.Contains(cond.Body.List, inner.Stmt) {
		return ""
	}
	return s.text(cond.Cond)
}

// Unreachable reports whether the comment on a line, from 1, is behind a return in its block: code there never runs.
func Unreachable(src []byte, line int) bool {
	s := read(src)
	if s == nil {
		return false
	}
	behind := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok || line < s.line(block.Lbrace) || line > s.line(block.Rbrace) {
			return true
		}
		behind = false // an inner block decides
		for _, stmt := range block.List {
			if _, returns := stmt.(*ast.ReturnStmt); returns && s.line(stmt.End()) < line {
				behind = true
			}
		}
		return true
	})
	return behind
}

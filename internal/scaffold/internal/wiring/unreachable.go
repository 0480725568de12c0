package wiring

import "go/ast"

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

package wiring

import (
	"go/ast"
	"slices"
)

// Logger is the variable with which a file logs an error before it ends the process. It is setupLog, as in scaffolded
// code, unless the file has another one for that and does not declare setupLog.
func Logger(src []byte) string {
	const usual = "setupLog"
	s := read(src)
	if s == nil || declared(s.file, usual) {
		return usual
	}
	count, logger := map[string]int{}, usual
	s.statements(func(stmt statement) {
		name := loggedBy(stmt.Stmt)
		if next := stmt.next(); name == "" || next == nil || !mentions(next, "Exit") {
			return
		}
		if count[name]++; count[name] > count[logger] {
			logger = name
		}
	})
	return logger
}

// declared reports whether a file declares a name that it uses.
func declared(file *ast.File, name string) bool {
	return mentions(file, name) && !slices.ContainsFunc(file.Unresolved, func(i *ast.Ident) bool { return i.Name == name })
}

// loggedBy is the variable of a statement like log.Error(err, "unable to start manager"), or "".
func loggedBy(stmt ast.Stmt) string {
	expr, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := expr.X.(*ast.CallExpr)
	if !ok || len(call.Args) < 2 || !isIdent(call.Args[0], "err") {
		return ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Error" {
		return ""
	}
	logger, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return logger.Name
}

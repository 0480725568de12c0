package wiring

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

type registration struct {
	call   *ast.CallExpr
	pkg    string // the name of the package in the file
	scheme string // the expression of the scheme
}

// registrations lists the calls pkg.AddToScheme(scheme), pkg.Install(scheme) and those of the package's SchemeBuilder.
func (s *source) registrations() []registration {
	var all []registration
	s.calls(func(call *ast.CallExpr, on ast.Expr, name string) {
		if name != "AddToScheme" && name != "Install" || len(call.Args) != 1 {
			return
		}
		if builder, ok := on.(*ast.SelectorExpr); ok {
			on = builder.X
		}
		if pkg, ok := on.(*ast.Ident); ok {
			all = append(all, registration{call, pkg.Name, s.text(call.Args[0])})
		}
	})
	return all
}

// Registers reports whether a file registers the types of a package, by its name in the file: by a call, or by another
// use of its AddToScheme, such as in a scheme builder.
func Registers(src []byte, pkg string) bool {
	s := read(src)
	if s == nil {
		return false
	}
	if slices.ContainsFunc(s.registrations(), func(r registration) bool { return r.pkg == pkg }) {
		return true
	}
	found := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		found = found || ok && sel.Sel.Name == "AddToScheme" && isIdent(sel.X, pkg)
		return !found
	})
	return found
}

// SchemePlace returns the place below the last call that registers types with a scheme. In a file that sets up
// controllers it considers only calls in that function or in init, since others are not for the manager's scheme.
func SchemePlace(src []byte) (place Place, ok bool) {
	s := read(src)
	if s == nil {
		return Place{}, false
	}
	_, manages := s.function()
	direct := false
	for _, r := range s.registrations() {
		inner, found := s.innermost(r.call.Pos())
		if !found || direct && !inner.body {
			continue
		}
		if manages != nil && inner.within != "init" && (r.call.Pos() < manages.Pos() || manages.End() < r.call.Pos()) {
			continue
		}
		stmt, found := s.ofFunction(r.call.Pos())
		if !found {
			continue
		}
		direct = inner.body
		place, ok = s.below(stmt), true
		if _, returns := stmt.Stmt.(*ast.ReturnStmt); returns {
			place = s.above(stmt)
		} else if checked := stmt.next(); checked != nil && assignsError(stmt.Stmt) && checksError(checked) {
			place = s.below(checked)
		}
		place.Scheme = r.scheme
	}
	return place, ok
}

// assignsError reports whether a statement assigns to err alone.
func assignsError(stmt ast.Stmt) bool {
	a, ok := stmt.(*ast.AssignStmt)
	return ok && len(a.Lhs) == 1 && isIdent(a.Lhs[0], "err")
}

// checksError reports whether a statement is Expect(err)… or if err != nil { … }.
func checksError(stmt ast.Stmt) bool {
	switch stmt := stmt.(type) {
	case *ast.IfStmt:
		return stmt.Init == nil && mentions(stmt.Cond, "err")
	case *ast.ExprStmt:
		return mentions(stmt.X, "err")
	}
	return false
}

func isIdent(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

func mentions(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok {
			found = found || ident.Name == name
		}
		return !found
	})
	return found
}

// MarkedScheme returns the scheme with which the function around the marker "scheme" registers types, or "".
func MarkedScheme(src []byte) string {
	s := read(src)
	if s == nil {
		return ""
	}
	line, scheme := s.markerLine("scheme"), ""
	for _, decl := range s.file.Decls {
		if line < s.line(decl.Pos()) || line > s.line(decl.End()) {
			continue
		}
		for _, r := range s.registrations() {
			if decl.Pos() <= r.call.Pos() && r.call.Pos() < decl.End() {
				scheme = r.scheme
			}
		}
	}
	return scheme
}

// SetsUpControllers reports whether a file calls SetupWithManager.
func SetsUpControllers(src []byte) bool {
	return callsAny(src, func(name string) bool { return name == "SetupWithManager" })
}

// SetsUpWebhooks reports whether a file has a [WebhookLine].
func SetsUpWebhooks(src []byte) bool { return WebhookLine(src) > 0 }

// WebhookLine returns the line of the first call that sets up a webhook, or 0.
func WebhookLine(src []byte) (line int) {
	s := read(src)
	if s == nil {
		return 0
	}
	s.calls(func(call *ast.CallExpr, _ ast.Expr, name string) {
		if line == 0 && isSetUp(name) && strings.HasSuffix(name, "WebhookWithManager") {
			line = s.line(call.Pos())
		}
	})
	return line
}

// Calls reports whether a file calls the function of a package that key names, such as
// controller.NewCronJobReconciler(.
func Calls(src []byte, key string) (found bool) {
	s := read(src)
	if s == nil {
		return false
	}
	s.calls(func(call *ast.CallExpr, _ ast.Expr, _ string) {
		found = found || s.text(call.Fun) == strings.TrimSuffix(key, "(")
	})
	return found
}

func callsAny(src []byte, is func(name string) bool) (found bool) {
	s := read(src)
	if s == nil {
		return false
	}
	s.calls(func(_ *ast.CallExpr, _ ast.Expr, name string) { found = found || is(name) })
	return found
}

// SetUpPlace returns the place for setting up a controller: below the last one or, without any, above the first call
// that adds a health check.
func SetUpPlace(src []byte) (Place, bool) {
	s := read(src)
	if s == nil {
		return Place{}, false
	}
	place, _, ok := s.setUpPlace()
	return place, ok
}

func (s *source) setUpPlace() (place Place, at token.Pos, ok bool) {
	checks := false
	s.calls(func(call *ast.CallExpr, _ ast.Expr, name string) {
		stmt, found := s.ofFunction(call.Pos())
		if !found {
			return
		}
		switch name {
		case "SetupWithManager":
			place, at, ok, checks = s.below(stmt), stmt.Pos(), true, true
			if checked := stmt.next(); checked != nil && assignsError(stmt.Stmt) && checksError(checked) {
				place = s.below(checked)
			}
		case "AddHealthzCheck", "AddReadyzCheck":
			if !checks {
				place, at, ok, checks = s.above(stmt), stmt.Pos(), true, true
			}
		}
	})
	return place, at, ok
}

// Function returns the function in which a file sets up controllers, or nil: the one around the marker "builder" or,
// without it, around [SetUpPlace].
func Function(src []byte) *ast.FuncType {
	s := read(src)
	if s == nil {
		return nil
	}
	typ, _ := s.function()
	return typ
}

// setUpLine returns the line of the marker "builder" or, without it, of the statement that decides [SetUpPlace]; else
// 0.
func (s *source) setUpLine() int {
	if line := s.markerLine("builder"); line > 0 {
		return line
	}
	_, at, ok := s.setUpPlace()
	if !ok {
		return 0
	}
	return s.line(at)
}

// DeclaresAbove reports whether [Function] declares a variable in its outermost block, above the place where
// controllers are set up.
func DeclaresAbove(src []byte, name string) bool {
	s := read(src)
	if s == nil {
		return false
	}
	_, body := s.function()
	if body == nil {
		return false
	}
	line := s.setUpLine()
	return slices.ContainsFunc(body.List, func(stmt ast.Stmt) bool { return s.line(stmt.End()) <= line && declares(stmt, name) })
}

func declares(stmt ast.Stmt, name string) bool {
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		return stmt.Tok == token.DEFINE && slices.ContainsFunc(stmt.Lhs, func(e ast.Expr) bool { return isIdent(e, name) })
	case *ast.DeclStmt:
		decl, ok := stmt.Decl.(*ast.GenDecl)
		return ok && slices.ContainsFunc(decl.Specs, func(spec ast.Spec) bool {
			value, ok := spec.(*ast.ValueSpec)
			return ok && slices.ContainsFunc(value.Names, func(n *ast.Ident) bool { return n.Name == name })
		})
	}
	return false
}

func (s *source) function() (typ *ast.FuncType, body *ast.BlockStmt) {
	line := s.setUpLine()
	if line == 0 {
		return nil, nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		var t *ast.FuncType
		var b *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			t, b = n.Type, n.Body
		case *ast.FuncLit:
			t, b = n.Type, n.Body
		}
		if b != nil && s.line(b.Pos()) <= line && line <= s.line(b.End()) {
			typ, body = t, b
		}
		return true
	})
	return typ, body
}

// managerMethods are methods by which [Manager] recognizes the manager's variable.
var managerMethods = []string{"GetClient", "GetScheme", "AddHealthzCheck", "AddReadyzCheck"}

// Manager returns the manager's variable where a file sets up controllers, or "mgr" if it is unknown.
func Manager(src []byte) string {
	const usual = "mgr"
	s := read(src)
	if s == nil {
		return usual
	}
	_, body := s.function()
	if body == nil || mentions(body, usual) {
		return usual
	}
	name := ""
	ast.Inspect(body, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		on, ok := sel.X.(*ast.Ident)
		if ok && slices.Contains(managerMethods, sel.Sel.Name) && name == "" {
			name = on.Name
		}
		return true
	})
	if name == "" {
		return usual
	}
	return name
}

func isSetUp(name string) bool {
	return strings.HasPrefix(name, "Setup") && strings.HasSuffix(name, "WithManager")
}

// Unreachable reports whether the comment on a line, from 1, follows a return in its block: code there never runs.
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

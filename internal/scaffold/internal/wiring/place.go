package wiring

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// A registration is a call that registers the types of a package with a scheme.
type registration struct {
	call   *ast.CallExpr
	pkg    string // the name of the package
	scheme string // the expression of the scheme
}

// registrations lists the calls pkg.AddToScheme(scheme), those by way of the package's SchemeBuilder too.
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

// Registers reports whether a file registers the types of the package that it imports under a name: by a call, or by
// handing its function to a builder of schemes.
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

// SchemePlace finds where a file registers types with a scheme: below the last such call. In a file that sets up
// controllers it is that of the manager, so the call is in the function that does that, or in init.
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
		} else if checked := stmt.next(); checked != nil && assignsError(stmt.Stmt) && looksAtError(checked) {
			place = s.below(checked)
		}
		place.Scheme = r.scheme
	}
	return place, ok
}

// assignsError reports whether a statement is err = …
func assignsError(stmt ast.Stmt) bool {
	a, ok := stmt.(*ast.AssignStmt)
	return ok && len(a.Lhs) == 1 && isIdent(a.Lhs[0], "err")
}

// looksAtError reports whether a statement is Expect(err)… or if err != nil { … }.
func looksAtError(stmt ast.Stmt) bool {
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

// MarkedScheme is the scheme with which the function around the marker for schemes registers types; "" when it
// registers none.
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

// SetsUpControllers reports whether a file sets up a controller.
func SetsUpControllers(src []byte) bool {
	return callsAny(src, func(name string) bool { return name == "SetupWithManager" })
}

// SetsUpWebhooks reports whether a file sets up a webhook.
func SetsUpWebhooks(src []byte) bool { return WebhookLine(src) > 0 }

// WebhookLine is the line of the first call in a file that sets up a webhook, or 0.
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

// callsAny reports whether a file calls a function of such a name.
func callsAny(src []byte, is func(name string) bool) (found bool) {
	s := read(src)
	if s == nil {
		return false
	}
	s.calls(func(_ *ast.CallExpr, _ ast.Expr, name string) { found = found || is(name) })
	return found
}

// SetUpPlace finds where a file sets up controllers: below the last that it sets up or, when there is none, above what
// adds checks to the manager.
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
			if checked := stmt.next(); checked != nil && assignsError(stmt.Stmt) && looksAtError(checked) {
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

// Function is the function in which a file sets up controllers, or nil: that of the marker or, without one, that of
// [SetUpPlace].
func Function(src []byte) *ast.FuncType {
	s := read(src)
	if s == nil {
		return nil
	}
	typ, _ := s.function()
	return typ
}

// setUpLine is the line of the marker for controllers or of the statement that stands for it, or 0.
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

// DeclaresAbove reports whether the function of [Function] declares a variable, in its own list of statements, above
// the place where controllers are set up.
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

// declares reports whether a statement declares a variable: name := … or var name ….
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

// managerMethods are methods of a manager that setting up a controller comes with.
var managerMethods = []string{"GetClient", "GetScheme", "AddHealthzCheck", "AddReadyzCheck"}

// Manager is what the manager is called where a file sets up controllers; "mgr" when that cannot be seen.
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

// isSetUp reports whether a call sets up a controller or a webhook.
func isSetUp(name string) bool {
	return strings.HasPrefix(name, "Setup") && strings.HasSuffix(name, "WithManager")
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

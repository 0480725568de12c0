package wiring

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// An Origin is where the scheme of a manager comes from: a function or a variable of a package.
type Origin struct {
	Package string // the import path; "" for the file's own package
	Name    string
	Call    bool // Name is a function
}

// SchemeOrigin finds what the manager of a file has as its scheme, if the file does not make that scheme itself.
func SchemeOrigin(src []byte) (Origin, bool) {
	s := read(src)
	if s == nil {
		return Origin{}, false
	}
	option := s.schemeOption()
	if option == nil {
		return Origin{}, false
	}
	expr := option.Value
	if ident, ok := expr.(*ast.Ident); ok {
		if ident.Obj == nil { // another file of the package declares it
			return Origin{Name: ident.Name}, true
		}
		if expr = valueOf(ident); expr == nil {
			return Origin{}, false
		}
	}
	return s.origin(expr)
}

// GivenScheme reports whether a suite of tests has its scheme from a function of the project, and shows no place where
// it registers types: what the scheme knows is decided there.
func GivenScheme(src []byte) (given bool) {
	s := read(src)
	if s == nil || s.markerLine("scheme") > 0 {
		return false
	}
	if _, registers := SchemePlace(src, ""); registers {
		return false
	}
	for _, expr := range s.schemes() {
		if ident, ok := expr.(*ast.Ident); ok && ident.Obj != nil {
			expr = valueOf(ident)
		}
		if origin, ok := s.origin(expr); ok && origin.Call {
			given = true
		}
	}
	return given
}

// schemes are what a file hands to clients and environments as their scheme: WithScheme(x) and Scheme: x.
func (s *source) schemes() (all []ast.Expr) {
	s.calls(func(call *ast.CallExpr, _ ast.Expr, name string) {
		if name == "WithScheme" && len(call.Args) == 1 {
			all = append(all, call.Args[0])
		}
	})
	if option := s.schemeOption(); option != nil {
		all = append(all, option.Value)
	}
	return all
}

// schemeOption is the field Scheme of the options that a manager is made with: in the function that sets up
// controllers, or else the first.
func (s *source) schemeOption() (option *ast.KeyValueExpr) {
	_, body := s.function()
	inBody := func(n ast.Node) bool { return body != nil && body.Pos() <= n.Pos() && n.Pos() < body.End() }
	ast.Inspect(s.file, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || lit.Type == nil || !strings.HasSuffix(s.text(lit.Type), "Options") {
			return true
		}
		for _, field := range lit.Elts {
			kv, ok := field.(*ast.KeyValueExpr)
			if ok && isIdent(kv.Key, "Scheme") && (option == nil || inBody(kv) && !inBody(option)) {
				option = kv
			}
		}
		return true
	})
	return option
}

// valueOf is what a variable is declared with, or nil.
func valueOf(ident *ast.Ident) ast.Expr {
	var names, values []ast.Expr
	switch decl := ident.Obj.Decl.(type) {
	case *ast.ValueSpec:
		for _, name := range decl.Names {
			names = append(names, name)
		}
		values = decl.Values
	case *ast.AssignStmt:
		names, values = decl.Lhs, decl.Rhs
	}
	for i, name := range names {
		if isIdent(name, ident.Name) && len(values) == len(names) {
			return values[i]
		}
	}
	return nil
}

// origin resolves utils.GetScheme(), newScheme() and utils.Scheme.
func (s *source) origin(expr ast.Expr) (Origin, bool) {
	var o Origin
	if call, ok := expr.(*ast.CallExpr); ok {
		expr, o.Call = call.Fun, true
	}
	switch expr := expr.(type) {
	case *ast.Ident:
		o.Name = expr.Name
	case *ast.SelectorExpr:
		pkg, ok := expr.X.(*ast.Ident)
		if !ok {
			return o, false
		}
		o.Name, o.Package = expr.Sel.Name, s.importPath(pkg.Name)
		if o.Package == "" {
			return o, false
		}
	default:
		return o, false
	}
	return o, o.Name != "NewScheme"
}

// importPath is the package that a file imports under a name, or "". A package without a name of its own is known by
// the last part of its path.
func (s *source) importPath(name string) string {
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path[strings.LastIndex(path, "/")+1:] == name {
			return path
		}
	}
	return ""
}

// Makes reports whether a file makes or fills the scheme of a name: a function of that name registers types or, for a
// variable, the file does.
func Makes(src []byte, o Origin) (function string, ok bool) {
	s := read(src)
	if s == nil {
		return "", false
	}
	if s.markerLine("scheme") > 0 {
		return "", true
	}
	if !o.Call {
		return "", len(s.registrations()) > 0
	}
	_, ok = s.belowRegistration(o.Name)
	return o.Name, ok
}

// aboveManager is the place above the statement that makes a manager with a scheme that others made.
func (s *source) aboveManager() (Place, bool) {
	option := s.schemeOption()
	if option == nil {
		return Place{}, false
	}
	switch option.Value.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default: // a call may make another one each time
		return Place{}, false
	}
	stmt, ok := s.ofFunction(option.Pos())
	if !ok || declares(stmt.Stmt, option.Value) {
		return Place{}, false
	}
	place := s.above(stmt)
	place.Scheme = s.text(option.Value)
	return place, true
}

// declares reports whether a statement declares the variable that an expression is.
func declares(stmt ast.Stmt, expr ast.Expr) bool {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return false
	}
	ident, ok := expr.(*ast.Ident)
	if !ok {
		return false
	}
	for _, name := range a.Lhs {
		if isIdent(name, ident.Name) {
			return true
		}
	}
	return false
}

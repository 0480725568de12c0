package vet

import (
	"go/ast"
	"go/token"

	"github.com/slipway-dev/slipway/internal/report"
)

// statuses finds calls that write the status of objects by a subresource that their type's definition does not have.
func (v *vetting) statuses() {
	made, err := v.code.Generation()
	if err != nil || len(made.CRDSets()) == 0 {
		return // definitions are not made of the code, or it is not known how
	}
	for _, f := range v.files {
		for _, decl := range f.syntax.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Body != nil {
				v.statusesIn(f, function)
			}
		}
	}
}

func (v *vetting) statusesIn(f file, function *ast.FuncDecl) {
	var variables map[string]typeName // of the function, once they are needed
	ast.Inspect(function.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !writesStatus(call) {
			return true
		}
		if variables == nil {
			variables = f.variables(function)
		}
		t, ok := f.made(call.Args[1])
		if name, is := variable(call.Args[1]); is {
			t, ok = variables[name]
		}
		if !ok {
			return true
		}
		if k := v.kindOf(f, t); k != nil && k.Certain && !k.Status {
			v.report(report.RuleMissingStatus, call.Pos(), "the status of "+k.Name+" is written, but its definition has no subresource for it: an API server answers that it is not found",
				"put +kubebuilder:subresource:status above the type, "+k.Where())
		}
		return true
	})
}

// writesStatus reports whether a call is c.Status().Update(ctx, object) or c.Status().Patch(ctx, object, …).
func writesStatus(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Update" && method.Sel.Name != "Patch" || len(call.Args) < 2 {
		return false
	}
	writer, ok := method.X.(*ast.CallExpr)
	if !ok || len(writer.Args) > 0 {
		return false
	}
	status, ok := writer.Fun.(*ast.SelectorExpr)
	return ok && status.Sel.Name == "Status"
}

// variable is the name of the variable that an argument is, or is the address of.
func variable(x ast.Expr) (name string, ok bool) {
	if address, is := x.(*ast.UnaryExpr); is && address.Op == token.AND {
		x = address.X
	}
	ident, ok := x.(*ast.Ident)
	if !ok {
		return "", false
	}
	return ident.Name, true
}

// variables are those of a function with one type in all of it. A name that is declared in two ways, or by a value
// whose type syntax does not show, has none.
func (f file) variables(function *ast.FuncDecl) map[string]typeName {
	types, unknown := map[string]typeName{}, map[string]bool{}
	declare := func(name *ast.Ident, t typeName, ok bool) {
		if other, is := types[name.Name]; !ok || is && other != t {
			unknown[name.Name] = true
		}
		types[name.Name] = t
	}
	fields := func(list *ast.FieldList) {
		for _, field := range list.List {
			t, ok := f.typeOf(field.Type)
			for _, name := range field.Names {
				declare(name, t, ok)
			}
		}
	}
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			fields(n.Params)
			if n.Results != nil {
				fields(n.Results)
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				var t typeName
				var ok bool
				if n.Type != nil {
					t, ok = f.typeOf(n.Type)
				} else if i < len(n.Values) {
					t, ok = f.made(n.Values[i])
				}
				declare(name, t, ok)
			}
		case *ast.AssignStmt:
			f.assigned(n, declare)
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if name, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					declare(name, typeName{}, false)
				}
			}
		}
		return true
	})
	if function.Recv != nil {
		fields(function.Recv)
	}
	for name := range unknown {
		delete(types, name)
	}
	return types
}

// assigned declares the variables of a short declaration.
func (f file) assigned(n *ast.AssignStmt, declare func(*ast.Ident, typeName, bool)) {
	if n.Tok != token.DEFINE {
		return
	}
	for i, x := range n.Lhs {
		name, ok := x.(*ast.Ident)
		if !ok {
			continue
		}
		var t typeName
		known := false
		if len(n.Lhs) == len(n.Rhs) {
			t, known = f.made(n.Rhs[i])
		}
		declare(name, t, known)
	}
}

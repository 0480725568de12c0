package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/typecheck"
)

// The packages of controller-runtime whose names matter.
const (
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	clientPackage     = controllerRuntime + "/pkg/client"
	managerPackage    = controllerRuntime + "/pkg/manager"
	builderPackage    = controllerRuntime + "/pkg/builder"
	utilPackage       = controllerRuntime + "/pkg/controller/controllerutil"
	configPackage     = clientPackage + "/config"
	restPackage       = "k8s.io/client-go/rest"
)

// flow is what the code of a program assigns to its variables: local ones, fields, and parameters of functions. A
// client is the manager's only if all that its variable may hold is. Where code leaves that open, it is not.
type flow struct {
	typecheck.Program
	assigned map[types.Object][]value
	open     map[types.Object]bool // other values may be assigned as well
	called   map[*ast.Ident]bool   // names of functions that are called, and not values
}

// value is an expression, with what is known of its package.
type value struct {
	expr ast.Expr
	info *types.Info
}

func flowOf(p typecheck.Program) *flow {
	f := &flow{Program: p, assigned: map[types.Object][]value{}, open: map[types.Object]bool{}, called: map[*ast.Ident]bool{}}
	for _, pkg := range p.Packages {
		for _, syntax := range pkg.Syntax {
			ast.Inspect(syntax, func(n ast.Node) bool { f.read(n, pkg.Info); return true })
		}
	}
	for _, pkg := range p.Packages {
		for name, object := range pkg.Info.Uses {
			if function, is := object.(*types.Func); is && !f.called[name] {
				for parameter := range function.Signature().Params().Variables() {
					f.open[parameter] = true
				}
			}
		}
	}
	return f
}

// read notes what a part of the code assigns.
func (f *flow) read(n ast.Node, info *types.Info) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, x := range n.Lhs {
			f.assign(object(x, info), info, n.Rhs, i)
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			f.assign(info.Defs[name], info, n.Values, i)
		}
	case *ast.RangeStmt:
		f.leave(n.Key, info)
		f.leave(n.Value, info)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			f.leave(n.X, info)
		}
	case *ast.CompositeLit:
		f.literal(n, info)
	case *ast.CallExpr:
		f.call(n, info)
	}
}

// assign notes the value at an index of a list or, if there is one for several, that one.
func (f *flow) assign(to types.Object, info *types.Info, values []ast.Expr, i int) {
	switch {
	case to == nil || len(values) == 0:
	case i < len(values):
		f.assigned[to] = append(f.assigned[to], value{values[i], info})
	default:
		f.assigned[to] = append(f.assigned[to], value{values[0], info})
	}
}

// leave notes that a variable may hold what is not followed.
func (f *flow) leave(x ast.Expr, info *types.Info) {
	if of := object(x, info); of != nil {
		f.open[of] = true
	}
}

func (f *flow) literal(n *ast.CompositeLit, info *types.Info) {
	of, is := types.Unalias(deref(info.Types[n].Type)).Underlying().(*types.Struct)
	if !is {
		return
	}
	for i, element := range n.Elts {
		if pair, named := element.(*ast.KeyValueExpr); named {
			f.assign(object(pair.Key, info), info, []ast.Expr{pair.Value}, 0)
		} else if i < of.NumFields() {
			f.assign(of.Field(i).Origin(), info, n.Elts, i)
		}
	}
}

// call notes the arguments of a function of the program. Methods may be called through interfaces, so what their
// parameters hold is left open.
func (f *flow) call(n *ast.CallExpr, info *types.Info) {
	name := calledName(n)
	if name == nil {
		return
	}
	f.called[name] = true
	function, is := info.Uses[name].(*types.Func)
	if !is || function.Signature().Recv() != nil || function.Signature().Variadic() || len(n.Args) != function.Signature().Params().Len() {
		return
	}
	for i, argument := range n.Args {
		f.assign(function.Origin().Signature().Params().At(i), info, []ast.Expr{argument}, 0)
	}
}

// calledName is the name of what a call calls; nil if it has none.
func calledName(call *ast.CallExpr) *ast.Ident {
	switch called := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return called
	case *ast.SelectorExpr:
		return called.Sel
	}
	return nil
}

// object is the variable that an expression names; nil for other expressions.
func object(x ast.Expr, info *types.Info) types.Object {
	var name *ast.Ident
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		name = x
	case *ast.SelectorExpr:
		name = x.Sel
	default:
		return nil
	}
	if of, is := info.ObjectOf(name).(*types.Var); is {
		return of.Origin()
	}
	return nil
}

// A following looks whether all that variables may hold comes from certain calls.
type following struct {
	*flow
	from func(call *ast.CallExpr, info *types.Info) bool
	seen map[types.Object]bool
}

func (f *flow) following(from func(*ast.CallExpr, *types.Info) bool) following {
	return following{f, from, map[types.Object]bool{}}
}

func (f following) value(v value) bool {
	if call, is := ast.Unparen(v.expr).(*ast.CallExpr); is {
		return f.from(call, v.info)
	}
	return f.variable(object(v.expr, v.info))
}

func (f following) variable(of types.Object) bool {
	if of == nil || f.open[of] || len(f.assigned[of]) == 0 {
		return false
	}
	if f.seen[of] {
		return true
	}
	f.seen[of] = true
	return !slices.ContainsFunc(f.assigned[of], func(v value) bool { return !f.value(v) })
}

// isManagers reports whether a call returns the manager's client, or its reader without a cache.
func isManagers(call *ast.CallExpr, info *types.Info) bool {
	selector, is := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !is || selector.Sel.Name != "GetClient" && selector.Sel.Name != "GetAPIReader" {
		return false
	}
	return isNamed(info.Types[selector.X].Type, managerPackage, "Manager")
}

// own reports whether the program has managers, all of which act as the account of its pod and have clients of the
// usual kind.
func (f *flow) own() bool {
	for of := range f.assigned {
		if field, is := of.(*types.Var); is && field.IsField() && field.Pkg() != nil {
			switch {
			case field.Pkg().Path() == restPackage && field.Name() == "Impersonate",
				strings.HasPrefix(field.Pkg().Path(), controllerRuntime) && (field.Name() == "NewClient" || field.Name() == "NewCache"):
				return false
			}
		}
	}
	managers := 0
	for call, info := range f.calls {
		if !isObject(called(call, info), managerPackage, "New") && !isObject(called(call, info), controllerRuntime, "NewManager") {
			continue
		}
		managers++
		if len(call.Args) == 0 || !f.following(isConfig).value(value{call.Args[0], info}) {
			return false
		}
	}
	return managers > 0
}

// isConfig reports whether a call returns the configuration of a pod's account, or of the user who starts the manager.
func isConfig(call *ast.CallExpr, info *types.Info) bool {
	of := called(call, info)
	for _, name := range []string{"GetConfig", "GetConfigOrDie"} {
		if isObject(of, controllerRuntime, name) || isObject(of, configPackage, name) {
			return true
		}
	}
	return isObject(of, restPackage, "InClusterConfig")
}

// calls are the calls of a program.
func (f *flow) calls(yield func(*ast.CallExpr, *types.Info) bool) {
	for _, pkg := range f.Packages {
		for _, syntax := range pkg.Syntax {
			for n := range ast.Preorder(syntax) {
				if call, is := n.(*ast.CallExpr); is && !yield(call, pkg.Info) {
					return
				}
			}
		}
	}
}

// called is the function, method or variable that a call calls; nil if it has no name.
func called(call *ast.CallExpr, info *types.Info) types.Object {
	name := calledName(call)
	if name == nil {
		if instance, is := ast.Unparen(call.Fun).(*ast.IndexExpr); is {
			return called(&ast.CallExpr{Fun: instance.X}, info)
		}
		return nil
	}
	return info.Uses[name]
}

// isObject reports whether an object has a name in the scope of a package.
func isObject(of types.Object, pkg, name string) bool {
	return of != nil && of.Pkg() != nil && of.Name() == name && of.Pkg().Path() == pkg && of.Parent() == of.Pkg().Scope()
}

// isNamed reports whether a type has a name in a package.
func isNamed(t types.Type, pkg, name string) bool {
	named, is := types.Unalias(t).(*types.Named)
	return is && named.Obj().Pkg() != nil && named.Obj().Name() == name && named.Obj().Pkg().Path() == pkg
}

func deref(t types.Type) types.Type {
	if pointer, is := types.Unalias(t).(*types.Pointer); is {
		return pointer.Elem()
	}
	return t
}

package load

import (
	"go/ast"
	"slices"
)

// scope is where a type expression is read: a file, and the type parameters of
// the declaration around it.
type scope struct {
	file *File
	decl *TypeDecl // nil outside of type declarations
}

func (d *TypeDecl) scope() scope { return scope{file: d.File, decl: d} }

// Type is what a type expression at package level of f means.
func (f *File) Type(expr ast.Expr) *Type { return scope{file: f}.resolve(expr) }

// invalid is the type of what is not declared.
var invalid = &Type{Kind: Invalid}

// universe are the types that need no import. It is never written to.
var universe = func() map[string]*Type {
	basics := []string{
		"bool", "string", "byte", "rune", "float32", "float64", "complex64", "complex128", "uintptr",
		"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
	}
	all := make(map[string]*Type)
	for _, name := range basics {
		all[name] = &Type{Kind: Basic, Name: name}
	}
	for _, name := range []string{"error", "any", "comparable"} {
		all[name] = &Type{Kind: Interface, Name: name}
	}
	return all
}()

var unsafePointer = &Type{Kind: Basic, Name: "unsafe.Pointer"}

// resolve says what expr means, asking go/types where syntax is not enough.
func (s scope) resolve(expr ast.Expr) *Type {
	switch e := expr.(type) {
	case *ast.Ident:
		return s.ident(e)
	case *ast.ParenExpr:
		return s.resolve(e.X)
	case *ast.SelectorExpr:
		return s.selector(e)
	case *ast.StarExpr:
		return &Type{Kind: Pointer, Elem: s.resolve(e.X)}
	case *ast.ArrayType:
		kind := Slice
		if e.Len != nil {
			kind = Array
		}
		return &Type{Kind: kind, Elem: s.resolve(e.Elt), scope: s, syntax: e}
	case *ast.MapType:
		return &Type{Kind: Map, Key: s.resolve(e.Key), Elem: s.resolve(e.Value)}
	case *ast.ChanType:
		return &Type{Kind: Chan, Elem: s.resolve(e.Value)}
	case *ast.StructType:
		return &Type{Kind: Struct, scope: s, syntax: e}
	case *ast.InterfaceType:
		return &Type{Kind: Interface, scope: s, syntax: e}
	case *ast.FuncType:
		return &Type{Kind: Func, scope: s, syntax: e}
	case *ast.IndexExpr, *ast.IndexListExpr:
		return s.unknown(expr)
	}
	return invalid
}

func (s scope) ident(e *ast.Ident) *Type {
	if s.isTypeParam(e.Name) {
		return &Type{Kind: TypeParam, Name: e.Name}
	}
	if d := s.declared(e.Name); d != nil {
		return d.alone()
	}
	if t := universe[e.Name]; t != nil {
		return t
	}
	return invalid
}

func (s scope) isTypeParam(name string) bool {
	if s.decl == nil || s.decl.Spec.TypeParams == nil {
		return false
	}
	return slices.ContainsFunc(s.decl.Spec.TypeParams.List, func(f *ast.Field) bool {
		return slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == name })
	})
}

func (s scope) selector(e *ast.SelectorExpr) *Type {
	x, ok := e.X.(*ast.Ident)
	if !ok {
		return invalid
	}
	if x.Name == "unsafe" && e.Sel.Name == "Pointer" {
		return unsafePointer
	}
	p, err := s.file.Import(x.Name)
	if err != nil || !ast.IsExported(e.Sel.Name) {
		return invalid
	}
	if d := p.Decl(e.Sel.Name); d != nil {
		return d.alone()
	}
	return invalid
}

// alone is what the declaration's name means without type arguments, which a
// generic type must have.
func (d *TypeDecl) alone() *Type {
	switch {
	case d.IsGeneric():
		return invalid
	case d.IsAlias() && !d.Package.loader.Edition().Types.Aliases:
		if !d.ends() {
			return invalid
		}
		return d.named.Unalias()
	}
	return d.named
}

// mostAliases is how many aliases may lead to a type.
const mostAliases = 100

// ends reports whether all aliases that an alias leads to end at types. It asks syntax alone, before one is resolved
// within another.
func (d *TypeDecl) ends() bool {
	d.leads.Do(func() { d.ending = d.leadsOn(make(map[*TypeDecl]progress), mostAliases) })
	return d.ending
}

func (d *TypeDecl) leadsOn(state map[*TypeDecl]progress, depth int) bool {
	switch {
	case !d.IsAlias() || state[d] == done:
		return true
	case state[d] == open || depth == 0:
		return false
	}
	state[d] = open
	ending := true
	ast.Inspect(d.Spec.Type, func(n ast.Node) bool {
		var target *TypeDecl
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if p, err := d.File.Import(x.Name); err == nil {
					target = p.Decl(n.Sel.Name)
				}
			}
		case *ast.Ident:
			target = d.scope().declared(n.Name)
		}
		if target != nil && !target.leadsOn(state, depth-1) {
			ending = false
		}
		_, selector := n.(*ast.SelectorExpr)
		return ending && !selector
	})
	state[d] = done
	return ending
}

// declared is the declaration that a name without a package means, or nil.
func (s scope) declared(name string) *TypeDecl {
	if d := s.file.Package.Decl(name); d != nil {
		return d
	}
	for _, p := range s.file.dotImports() {
		if d := p.Decl(name); d != nil && ast.IsExported(name) {
			return d
		}
	}
	return nil
}

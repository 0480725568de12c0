package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
)

// Kind is the form of a type.
type Kind int

// The kinds. Invalid is the user's mistake: a name that is declared nowhere.
const (
	Invalid Kind = iota
	Basic
	Named
	Alias
	Pointer
	Slice
	Array
	Map
	Struct
	Interface
	Func
	Chan
	TypeParam
)

// String names k.
func (k Kind) String() string {
	return [...]string{"invalid", "basic", "named", "alias", "pointer", "slice", "array", "map", "struct", "interface", "func", "chan", "type parameter"}[k]
}

// Type is what a type expression means. Named and Alias types of a declaration
// are one value each, so they may be compared by pointer; see [Identical] for
// the others.
type Type struct {
	Kind Kind
	// Name is that of a Basic type as written, so byte is not uint8; of error,
	// any and comparable, which have the kind Interface; and of a TypeParam.
	Name string
	// Decl is the declaration of a Named type or an Alias, of an instantiated
	// generic type its generic declaration.
	Decl *TypeDecl
	// Elem is the element of a Pointer, Slice, Array, Map or Chan.
	Elem *Type
	// Key is that of a Map.
	Key *Type

	scope  scope    // where syntax is meant
	syntax ast.Expr // of a Struct, Interface, Func or Array

	checked types.Type // set when go/types had to say what it is
}

// IsBasic reports whether t is the basic type of that name.
func (t *Type) IsBasic(name string) bool { return t.Kind == Basic && t.Name == name }

// Unalias is t without aliases at its top.
func (t *Type) Unalias() *Type {
	for range maxDepth {
		if t.Kind != Alias {
			return t
		}
		t = t.Decl.right()
	}
	return invalid
}

// maxDepth bounds what hostile code can make the resolver follow.
const maxDepth = 1000

// Underlying is t without names: the type at the end of its declarations.
func (t *Type) Underlying() *Type {
	for range maxDepth {
		switch {
		case t.Kind != Named && t.Kind != Alias:
			return t
		case t.checked != nil:
			return t.Decl.Package.loader.fromGo(t.Decl.Package, t.checked.Underlying())
		}
		t = t.Decl.right()
	}
	return invalid
}

// right is the type on the right of the declaration.
func (d *TypeDecl) right() *Type {
	d.under.Do(func() { d.underlying = d.scope().resolve(d.Spec.Type) })
	return d.underlying
}

// Arguments are the type arguments of an instance of a generic type, as they are called in a package; others have none.
func (t *Type) Arguments(from *Package) []*Type {
	instance, ok := t.checked.(interface{ TypeArgs() *types.TypeList })
	if !ok {
		return nil
	}
	var all []*Type
	for arg := range instance.TypeArgs().Types() {
		all = append(all, from.loader.fromGo(from, arg))
	}
	return all
}

// Right is the type that d is declared with or, for an alias, as.
func (d *TypeDecl) Right() *Type { return d.right() }

// Type is the type that d declares.
func (d *TypeDecl) Type() *Type { return d.named }

// TypeOf is what a type expression inside the declaration means.
func (d *TypeDecl) TypeOf(expr ast.Expr) *Type { return d.scope().resolve(expr) }

// StructField is a field of a struct type.
type StructField struct {
	Name     string // of an embedded field, its type's name
	Embedded bool
	Tag      reflect.StructTag
	Type     *Type
	Syntax   *ast.Field // nil when go/types had to say what the struct is
	File     *File      // that Syntax is in
}

// StructFields are the fields of a type whose underlying type is a struct, in
// order; for other types there are none.
func (t *Type) StructFields() []StructField {
	u := t.Underlying()
	if u.checked != nil {
		return u.checkedFields()
	}
	st, ok := u.syntax.(*ast.StructType)
	if !ok {
		return nil
	}
	var fields []StructField
	for _, f := range st.Fields.List {
		field := StructField{Tag: tagOf(f.Tag), Type: u.scope.resolve(f.Type), Syntax: f, File: u.scope.file}
		if len(f.Names) == 0 {
			field.Name, field.Embedded = embeddedName(f.Type), true
			fields = append(fields, field)
		}
		for _, name := range f.Names {
			field.Name = name.Name
			fields = append(fields, field)
		}
	}
	return fields
}

// Length is that of an array whose length is written as a number; others are not ok.
func (t *Type) Length() (n int64, ok bool) {
	array, ok := t.syntax.(*ast.ArrayType)
	if !ok {
		return 0, false
	}
	literal, ok := array.Len.(*ast.BasicLit)
	if !ok || literal.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.ParseInt(literal.Value, 0, 64)
	return n, err == nil
}

// IsBare reports whether t is the interface without methods, or a struct without fields.
func (t *Type) IsBare() bool {
	switch syntax := t.syntax.(type) {
	case *ast.InterfaceType:
		return len(syntax.Methods.List) == 0
	case *ast.StructType:
		return len(syntax.Fields.List) == 0
	}
	return t.Kind == Interface && t.Name == "any"
}

// embeddedName is the name of the field that embedding expr declares.
func embeddedName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.ParenExpr:
		return embeddedName(e.X)
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	}
	return ""
}

// Identical reports whether a and b are the same type in the language's sense;
// struct, function and interface literals are never identical here.
func Identical(a, b *Type) bool {
	a, b = a.Unalias(), b.Unalias()
	if a == b {
		return a != invalid
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Basic:
		return canonical(a.Name) == canonical(b.Name)
	case Interface:
		return a.Name != "" && a.Name == b.Name
	case Pointer, Slice:
		return Identical(a.Elem, b.Elem)
	case Map:
		return Identical(a.Key, b.Key) && Identical(a.Elem, b.Elem)
	case Named:
		return a.checked != nil && b.checked != nil && types.Identical(a.checked, b.checked)
	}
	return false
}

// IsReceiver reports whether t, in the signature of a method of a generic type, is the type that has the method: an
// instance, or the generic type itself, which has its own parameters as arguments there.
func IsReceiver(t, receiver *Type) bool {
	if receiver.checked != nil {
		return Identical(t, receiver)
	}
	named, ok := t.checked.(*types.Named)
	if !ok || t.Decl != receiver.Decl {
		return false
	}
	for i := range named.TypeArgs().Len() {
		if param, ok := named.TypeArgs().At(i).(*types.TypeParam); !ok || param.Index() != i {
			return false
		}
	}
	return true
}

func canonical(basic string) string {
	switch basic {
	case "byte":
		return "uint8"
	case "rune":
		return "int32"
	}
	return basic
}

package apply

import (
	"go/token"
	"reflect"
	"strconv"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// kind is the form of a type as applyconfiguration-gen knows them: a declared type of which the underlying type is
// basic, a map or a list is a kind of its own, and one that is declared as a struct is that struct, with a name.
type kind int

const (
	basicKind kind = iota
	structKind
	mapKind
	listKind
	pointerKind
	namedKind
	otherKind
)

// typ is a type. Those of a declaration are one value.
type typ struct {
	kind      kind
	pkg, name string // of a declared one; a built-in one has a name alone
	elem, key *typ
	prefix    string     // of others: what stands before elem
	fields    *load.Type // of a struct

	parts []*typ // of a named one

	// refused says why there is no way to write the type's name.
	refused string
	// generic is set if type arguments may lead anywhere.
	generic bool

	members []*member
	listed  bool
}

// member is a field of a struct.
type member struct {
	name     string
	embedded bool
	tag      reflect.StructTag
	typ      *typ
	field    load.StructField
}

// of is a type of the loader's.
func (w *world) of(t *load.Type) *typ {
	t = t.Unalias()
	switch t.Kind {
	case load.Named:
		return w.declared(t)
	case load.Basic:
		return &typ{kind: basicKind, name: builtinName(t.Name)}
	}
	unnamed := &typ{}
	w.fill(unnamed, t)
	return unnamed
}

// declared is a type that has a declaration.
func (w *world) declared(t *load.Type) *typ {
	if t.Decl.IsGeneric() {
		return &typ{kind: otherKind, generic: true, refused: "a generic type"}
	}
	if known := w.byDecl[t.Decl]; known != nil {
		return known
	}
	made := &typ{pkg: t.Decl.Package.Path, name: t.Decl.Name()}
	w.byDecl[t.Decl] = made
	under := t.Underlying()
	switch under.Kind {
	case load.Basic, load.Map, load.Slice:
		made.kind = namedKind
		if made.pkg == w.pkg.Path { // its parts are followed, but not written
			made.parts = w.parts(under)
		}
	default:
		w.fill(made, under)
	}
	return made
}

// parts are the elements and the keys of a type.
func (w *world) parts(t *load.Type) (all []*typ) {
	for _, part := range []*load.Type{t.Elem, t.Key} {
		if part != nil {
			all = append(all, w.of(part))
		}
	}
	return all
}

// fill gives a type the form of one without a name.
func (w *world) fill(made *typ, t *load.Type) {
	switch t.Kind {
	case load.Struct:
		made.kind, made.fields = structKind, t
		if made.pkg == "" {
			made.name = "struct{}"
			if !t.IsBare() {
				made.refused = "a struct without a name"
			}
		}
	case load.Map:
		made.kind, made.key, made.elem = mapKind, w.of(t.Key), w.of(t.Elem)
	case load.Slice:
		made.kind, made.elem = listKind, w.of(t.Elem)
	case load.Pointer:
		made.kind, made.elem = pointerKind, w.of(t.Elem)
	case load.Array:
		made.kind, made.elem = otherKind, w.of(t.Elem)
		n, ok := t.Length()
		made.prefix = "[" + strconv.FormatInt(n, 10) + "]"
		if !ok {
			made.refused = "an array whose length is no number"
		}
	case load.Chan:
		made.kind, made.elem, made.refused = otherKind, w.of(t.Elem), "a channel"
	case load.Interface:
		made.kind = otherKind
		if made.name == "" {
			made.name = "any"
		}
		if !t.IsBare() {
			made.refused = "an interface without a name"
		}
	default:
		made.kind, made.refused = otherKind, "a type that is "+t.Kind.String()
	}
}

// builtinName is what applyconfiguration-gen writes for a basic type. It knows neither int8, which it takes for a byte,
// nor some others.
func builtinName(name string) string {
	switch name {
	case "uint8", "int8":
		return "byte"
	case "rune", "complex64", "complex128", "unsafe.Pointer":
		return "unnameable_Unsupported"
	}
	return name
}

// membersOf are the fields of a struct; other types have none.
func (w *world) membersOf(t *typ) []*member {
	if t.listed || t.fields == nil {
		return t.members
	}
	t.listed = true
	for _, f := range t.fields.StructFields() {
		t.members = append(t.members, &member{name: f.Name, embedded: f.Embedded, tag: f.Tag, typ: w.of(f.Type), field: f})
	}
	return t.members
}

// position is where the field's name stands.
func (m *member) position() token.Pos {
	for _, name := range m.field.Syntax.Names {
		if name.Name == m.name {
			return name.Pos()
		}
	}
	return m.field.Syntax.Type.Pos()
}

const (
	metaPackage    = "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimePackage = "k8s.io/apimachinery/pkg/runtime"
)

func (t *typ) is(pkg, name string) bool { return t.pkg == pkg && t.name == name }

func (t *typ) isTypeMeta() bool   { return t.is(metaPackage, "TypeMeta") }
func (t *typ) isObjectMeta() bool { return t.is(metaPackage, "ObjectMeta") }

// embeds reports whether one of the members is an embedded field of a type.
func embeds(members []*member, is func(*typ) bool) bool {
	for _, m := range members {
		if m.embedded && is(m.typ) {
			return true
		}
	}
	return false
}

// isNillable reports whether the zero value of a field shows that it was not set.
func (t *typ) isNillable() bool { return t.kind == listKind || t.kind == mapKind }

// maxDepth bounds how far a type is followed into itself.
const maxDepth = 100

// pointed is what t, which may be a pointer, points to in the end.
func (t *typ) pointed() *typ {
	for range maxDepth {
		if t.kind != pointerKind {
			break
		}
		t = t.elem
	}
	return t
}

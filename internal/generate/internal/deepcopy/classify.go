package deepcopy

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// receivesPointer reports whether generated methods of t have a pointer
// receiver. Types that are references already have a plain one.
func receivesPointer(t *load.Type) bool {
	switch t.Kind {
	case load.Pointer, load.Slice, load.Map:
		return false
	case load.Named:
		return receivesPointer(t.Underlying())
	}
	return true
}

// yieldsPointer reports whether the DeepCopy that is generated for t returns a
// pointer. A pointer has the methods of what it points to.
func yieldsPointer(t *load.Type) bool {
	for range maxDepth {
		switch t.Kind {
		case load.Pointer:
			t = t.Elem
		case load.Named:
			t = t.Underlying()
		default:
			return t.Kind != load.Slice && t.Kind != load.Map
		}
	}
	return false
}

// maxDepth bounds how far a type is followed into itself.
const maxDepth = 100

// isReference reports whether copying a value of the type t, which has no name,
// copies only a reference.
func isReference(t *load.Type) bool {
	return t.Kind == load.Pointer || t.Kind == load.Slice || t.Kind == load.Map
}

// shallow knows which types assignment copies as a whole. What it has found out
// about a declared type it remembers, so that one that is used everywhere is
// looked into once.
type shallow struct {
	known map[*load.TypeDecl]bool
	depth int
}

func newShallow() *shallow { return &shallow{known: make(map[*load.TypeDecl]bool)} }

// holds reports whether assignment copies all of t. An alias never counts as
// shallow, so that what it stands for is copied by its methods.
func (s *shallow) holds(t *load.Type) bool {
	switch t.Kind {
	case load.Basic:
		return !t.IsBasic("unsafe.Pointer")
	case load.Struct:
		return !slices.ContainsFunc(t.StructFields(), func(f load.StructField) bool { return !s.holds(f.Type) })
	case load.Named:
		return s.named(t)
	}
	return false
}

// named is holds for a declared type. One that contains itself by value is a
// mistake of its author and must not be followed for ever.
func (s *shallow) named(t *load.Type) bool {
	if known, found := s.known[t.Decl]; found {
		return known
	}
	if s.depth == maxDepth {
		return false
	}
	s.depth++
	defer func() { s.depth-- }()
	if t.Decl.IsGeneric() { // each instance is another type
		return s.holds(t.Underlying())
	}
	s.known[t.Decl] = false // as long as it is not known
	s.known[t.Decl] = s.holds(t.Underlying())
	return s.known[t.Decl]
}

// describe names the kind of t in a message.
func describe(t *load.Type) string {
	switch t.Kind {
	case load.Named, load.Alias:
		return t.Decl.Name()
	case load.Invalid:
		return "a type without a declaration"
	case load.Interface:
		return "an interface"
	case load.Array:
		return "an array"
	case load.Func:
		return "a function"
	case load.Chan:
		return "a channel"
	case load.TypeParam:
		return "the type parameter " + t.Name
	case load.Basic:
		return t.Name
	}
	return "a " + t.Kind.String()
}

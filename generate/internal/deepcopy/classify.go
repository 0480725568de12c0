package deepcopy

import "github.com/slipway-dev/slipway/generate/internal/load"

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
	switch t.Kind {
	case load.Pointer:
		return yieldsPointer(t.Elem)
	case load.Slice, load.Map:
		return false
	case load.Named:
		return yieldsPointer(t.Underlying())
	}
	return true
}

// isReference reports whether copying a value of the type t, which has no name,
// copies only a reference.
func isReference(t *load.Type) bool {
	return t.Kind == load.Pointer || t.Kind == load.Slice || t.Kind == load.Map
}

// isShallow reports whether assignment copies all of t. An alias never counts as
// shallow, so that what it stands for is copied by its methods.
func isShallow(t *load.Type) bool {
	switch t.Kind {
	case load.Basic:
		return !t.IsBasic("unsafe.Pointer")
	case load.Named:
		return isShallow(t.Underlying())
	case load.Struct:
		for _, f := range t.StructFields() {
			if !isShallow(f.Type) {
				return false
			}
		}
		return true
	}
	return false
}

// describe names the kind of t in a message.
func describe(t *load.Type) string {
	switch t.Kind {
	case load.Invalid:
		return "a type that is declared nowhere"
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

package deepcopy

import "github.com/slipway-dev/slipway/internal/generate/internal/load"

// methods are the copying methods that a type has by itself; those of embedded
// fields copy only a part of it and do not count.
type methods struct {
	copies   bool // has DeepCopy
	onPtr    bool // whose receiver and result are pointers
	copyInto bool // has DeepCopyInto
}

// any reports whether there is one of them; the generator adds the other.
func (m methods) any() bool { return m.copies || m.copyInto }

// yieldsPointer reports whether DeepCopy, called on a value of type t, returns a
// pointer, be the method there already or still to be generated.
func (m methods) yieldsPointer(t *load.Type) bool {
	if m.copies {
		return m.onPtr
	}
	return yieldsPointer(t)
}

// methodsOf finds the methods of t, which may be a pointer to their receiver.
func methodsOf(t *load.Type) methods {
	var m methods
	if pointsToPointer(t) {
		return m
	}
	if f, depth := t.Method("DeepCopy"); f != nil && depth == 0 {
		m.copies, m.onPtr = isDeepCopy(f, t), f.Pointer
		m.onPtr = m.onPtr && m.copies
	}
	if f, depth := t.Method("DeepCopyInto"); f != nil && depth == 0 {
		m.copyInto = isDeepCopyInto(f, t)
	}
	return m
}

func pointsToPointer(t *load.Type) bool {
	t = t.Unalias()
	return t.Kind == load.Pointer && t.Elem.Unalias().Kind == load.Pointer
}

// isDeepCopy reports whether f has no parameters and returns what it is called on.
func isDeepCopy(f *load.Method, on *load.Type) bool {
	results := f.Results()
	if len(f.Params()) != 0 || len(results) != 1 {
		return false
	}
	result := results[0]
	if f.Pointer {
		if result.Kind != load.Pointer {
			return false
		}
		result = result.Elem
	}
	return isReceiver(result, f, on)
}

// isDeepCopyInto reports whether f takes a pointer to its receiver's type and
// returns nothing.
func isDeepCopyInto(f *load.Method, on *load.Type) bool {
	params := f.Params()
	if len(f.Results()) != 0 || len(params) != 1 || params[0].Kind != load.Pointer {
		return false
	}
	return isReceiver(params[0].Elem, f, on)
}

// isReceiver reports whether t is the declared type that f is a method of. For
// a method of an interface that is the interface it was found in. An alias does
// not count, and neither does another instance of a generic type.
func isReceiver(t *load.Type, f *load.Method, on *load.Type) bool {
	if f.Decl != nil && f.Decl.IsGeneric() {
		return t.Kind == load.Named && load.IsReceiver(t, receiverOf(on))
	}
	decl := f.Decl
	if decl == nil {
		decl = on.Unalias().Decl
	}
	return t.Kind == load.Named && decl != nil && t.Decl == decl
}

// receiverOf is the type that t is, or points to.
func receiverOf(t *load.Type) *load.Type {
	t = t.Unalias()
	if t.Kind == load.Pointer {
		return t.Elem.Unalias()
	}
	return t
}

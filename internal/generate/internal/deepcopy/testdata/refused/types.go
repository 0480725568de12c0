// Package refused has fields that have no deep copy.
// +kubebuilder:object:generate=true
package refused

import "unsafe"

// Interface is no data.
type Interface interface{ Name() string } // want "an interface has no deep copy"

// Fields are all refused, and all are told.
type Fields struct {
	Any       any                  // want "an interface has no deep copy"
	Error     error                // want "an interface has no deep copy"
	Func      func()               // want "a function has no deep copy"
	Chan      chan int             // want "a channel has no deep copy"
	Array     [3]int               // want "an array has no deep copy"
	Unsafe    unsafe.Pointer       // want "unsafe.Pointer has no deep copy"
	Anys      []any                // want "an interface has no deep copy"
	Map       map[string]any       // want "an interface has no deep copy"
	Key       map[[2]string]string // want "the key of this map is an array, which assignment does not copy"
	Pointer   *any                 // want "an interface has no deep copy"
	Interface Interface            // want "an interface has no deep copy"
	Unknown   Undeclared           // want "a type without a declaration has no deep copy"
	Box       Box[[]int]           // want "Box is generic, and methods of generic types are not generated"
	Boxes     []Half[[]int]        // want "Half is generic, and methods of generic types are not generated"
	Fine      []string
}

// Box would get methods without its parameter.
type Box[T any] struct{ V T } // want "Box is generic, and methods of generic types are not generated"

// Half has one of two methods.
type Half[T any] struct{ V T } // want "Half is generic, and methods of generic types are not generated"

// DeepCopy is written by hand.
func (in *Half[T]) DeepCopy() *Half[T] { return in }

// Types that contain themselves end somewhere, in Go as here.
type (
	Endless    []Endless          // want "Endless contains itself without a struct in between, or is nested too deeply"
	EndlessMap map[string]Endless // want "Endless contains itself without a struct in between, or is nested too deeply"
)

// Pointless points to itself.
type Pointless *Pointless

// Holder holds what points to itself.
type Holder struct {
	Pointless Pointless            // want "Pointless contains itself without a struct in between, or is nested too deeply"
	Pointer   **Pointless          // want "Pointless contains itself without a struct in between, or is nested too deeply"
	Methods   map[string]Pointless // want "Pointless contains itself without a struct in between, or is nested too deeply"
}

// Deep is very deep.
type Deep struct {
	Pointer ******************************************************************************************************************************************************int // want "a pointer contains itself without a struct in between, or is nested too deeply"
}

// Inside contains itself, which is no Go: its findings are the compiler's.
type Inside struct {
	Inside Inside
	Around [1]string // want "an array has no deep copy"
}

type Itself = map[string]*Itself // want "an alias of itself is not a type"

type There = []Back // want "an alias of itself is not a type"

type Back = struct{ There *There } // want "an alias of itself is not a type"

// Around is none: a type is between.
type Around = []Between

type Between struct{ Around Around }

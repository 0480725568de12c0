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
	Key       map[[2]string]string // want "the key of this map is an array, which cannot be copied by assignment"
	Pointer   *any                 // want "an interface has no deep copy"
	Interface Interface            // want "an interface has no deep copy"
	Unknown   Undeclared           // want "a type that is declared nowhere has no deep copy"
	Fine      []string
}

// Package basic copies what the language has by itself.
// +kubebuilder:object:generate=true
package basic

// Empty holds nothing.
type Empty struct{}

// Basics are copied by assignment.
type Basics struct {
	Bool    bool
	Int     int
	Int32   int32
	Byte    byte
	Rune    rune
	Float   float64
	Complex complex128
	Uintptr uintptr
	A, B, C string
	hidden  int
}

// Pointers have several depths.
type Pointers struct {
	String  *string
	Bytes   *[]byte
	Deep    **int
	Deeper  ***Basics
	Struct  *Basics
	Complex *Slices
	Map     *map[string]string
	hidden  *int
}

// Slices have several depths.
type Slices struct {
	Strings  []string
	Bytes    []byte
	Pointers []*string
	Nested   [][]string
	Deep     [][][]*Basics
	Shallow  []Basics
	Structs  []Pointers
	Pairs    []*Pointers
	Maps     []map[string]int
	Empty    []Empty
}

// Maps have several depths.
type Maps struct {
	Strings  map[string]string
	Ints     map[int32]bool
	Bytes    map[string][]byte
	Lists    map[string][]string
	Pointers map[string]*string
	Shallow  map[string]Basics
	Structs  map[string]Pointers
	Pairs    map[string]*Pointers
	Nested   map[string]map[string][]*Slices
	Keys     map[Key]Empty
}

// Key is comparable.
type Key struct {
	Name, Namespace string
}

// Nested has structs without names and structs in structs.
type Nested struct {
	Inline struct {
		Name string
		At   Key
	}
	Basics   Basics
	Pointers Pointers
	Slices   Slices
	self     *Nested
}

// Recursive refers to itself.
type Recursive struct {
	Next     *Recursive
	Children []Recursive
	ByName   map[string]Recursive
}

type unexported struct {
	Names []string
}

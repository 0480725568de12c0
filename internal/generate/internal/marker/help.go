package marker

import (
	"slices"
	"strings"
)

// Argument is an argument of a marker as help shows it.
type Argument struct {
	Name     string // "" for the value after the equals sign
	Type     ArgumentType
	Optional bool
	Doc      string // a phrase that continues "This argument …"; may be empty
}

// ArgumentType is the form of an argument's value.
type ArgumentType struct {
	Kind string        // int, number, string, bool, any, slice, map or raw
	Item *ArgumentType // of slices and maps
}

// String is the type as Go writes it.
func (t ArgumentType) String() string {
	switch t.Kind {
	case "slice":
		return "[]" + t.Item.String()
	case "map":
		return "map[string]" + t.Item.String()
	}
	return t.Kind
}

// Arguments are the arguments of d, ordered by name.
func (d *Definition) Arguments() []Argument {
	args := d.args
	if d.custom { // its text is its own affair, its type shows what is in it
		args, _ = argumentsOf(d.output)
	}
	var all []Argument
	for _, a := range args {
		all = append(all, Argument{Name: a.name, Type: a.describe(), Optional: a.optional, Doc: a.doc})
	}
	slices.SortFunc(all, func(a, b Argument) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// describe is the type of an argument of the shape.
func (s shape) describe() ArgumentType {
	t := ArgumentType{Kind: [...]string{"int", "number", "string", "bool", "any", "slice", "map", "raw"}[s.kind]}
	if s.item != nil {
		item := s.item.describe()
		t.Item = &item
	}
	return t
}

package marker

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Target says what a marker describes.
type Target int

// The targets.
const (
	Package Target = iota
	Type
	Field
)

// String names t as messages do.
func (t Target) String() string {
	switch t {
	case Package:
		return "package"
	case Type:
		return "type"
	case Field:
		return "field"
	}
	return fmt.Sprintf("Target(%d)", int(t))
}

// Raw receives everything after the equals sign, unparsed.
type Raw string

// An Unmarshaler parses its own argument text: everything that follows the
// first equals sign. Name is the name up to that sign.
type Unmarshaler interface {
	UnmarshalMarker(name, text string) error
}

// Definition is one marker that a generator knows: where it may stand, what its
// arguments are and which Go type its value has. Make one with [Define].
type Definition struct {
	Name   string
	Target Target
	Doc    string // a phrase that continues "This marker …"
	// Category is the heading that help shows it under, see [In].
	Category string
	// Deprecated markers work and should not be written any more; Instead is the
	// marker to write, if there is one.
	Deprecated bool
	Instead    string

	later map[string]string // arguments that only a later version has, with the version

	output   reflect.Type
	args     []argument
	byName   map[string]int
	custom   bool // *output is an Unmarshaler
	nameless bool // the only argument has no name: +name=value
	err      error
}

// Define makes the definition of the marker name on target whose value is a T.
//
// The exported fields of a struct T are the arguments. The tag `marker:"name,optional"` renames one and makes it
// optional (pointers always are); `marker:"."` on the only field takes the value without an argument name. The tag
// `doc:"…"` says what the argument is, for help, and `example:"…"` a value that fits most, for who has left it out. Any
// other T is itself the value: string, int, int32, float64, bool, any, slices and string-keyed maps of these, [Raw], or
// an [Unmarshaler].
//
// A T that cannot be an argument is reported by [NewRegistry].
func Define[T any](name string, target Target, doc string) Definition {
	d := Definition{Name: name, Target: target, Doc: doc, output: reflect.TypeFor[T]()}
	d.custom = reflect.PointerTo(d.output).Implements(reflect.TypeFor[Unmarshaler]())
	if !d.custom {
		d.readOutput()
	}
	return d
}

// readOutput finds the arguments in the type of the value.
func (d *Definition) readOutput() {
	args, err := argumentsOf(d.output)
	d.err = err
	d.take(args)
}

func (d *Definition) take(args []argument) {
	d.args = args
	d.nameless = len(d.args) == 1 && d.args[0].name == ""
	d.byName = make(map[string]int, len(d.args))
	for i, a := range d.args {
		d.byName[a.name] = i
	}
}

// Plain is the same definition with a value that is read like all others of its type, also where that is an
// [Unmarshaler].
func (d Definition) Plain() Definition {
	if d.custom {
		d.custom = false
		d.readOutput()
	}
	return d
}

// Without is the same definition without the arguments for which since returns the later version that has them.
func (d Definition) Without(since func(argument string) string) Definition {
	later := make(map[string]string)
	for _, a := range d.args {
		if version := since(a.name); version != "" {
			later[a.name] = version
		}
	}
	if len(later) > 0 {
		d.later = later
		d.take(slices.DeleteFunc(slices.Clone(d.args), func(a argument) bool { return later[a.name] != "" }))
	}
	return d
}

// Needed makes the value of a marker without argument names needed, the opposite of Optional.
func (d Definition) Needed() Definition { return d.needing(true) }

// Optional makes the value of a marker without argument names optional, so that
// +name alone is accepted.
func (d Definition) Optional() Definition { return d.needing(false) }

func (d Definition) needing(value bool) Definition {
	if d.nameless {
		d.args = []argument{d.args[0]}
		d.args[0].optional = !value
	}
	return d
}

// On is the same definition for another target.
func (d Definition) On(target Target) Definition {
	d.Target = target
	return d
}

// InsteadOf is the same definition for those who still write it in place of
// instead; "" where nothing is to be written in its place.
func (d Definition) InsteadOf(instead string) Definition {
	d.Deprecated, d.Instead = true, instead
	return d
}

// In puts definitions under a heading of help.
func In(category string, definitions ...Definition) []Definition {
	for i := range definitions {
		definitions[i].Category = category
	}
	return definitions
}

// Named is the same definition under another name.
func (d Definition) Named(name string) Definition {
	d.Name = name
	return d
}

// takesValue reports whether the marker has one argument, without a name.
func (d *Definition) takesValue() bool { return d.nameless || d.custom }

func (d *Definition) validate() error {
	switch {
	case d.Name == "" || strings.ContainsAny(d.Name, "=, \t"):
		return fmt.Errorf("marker %q: not a marker name", d.Name)
	case d.output == nil:
		return fmt.Errorf("marker %q: not made by Define", d.Name)
	case d.err != nil:
		return fmt.Errorf("marker %q: %w", d.Name, d.err)
	}
	return nil
}

// kind is the form of an argument's value.
type kind int

const (
	kindInt kind = iota
	kindNumber
	kindString
	kindBool
	kindAny
	kindSlice
	kindMap
	kindRaw
)

// String names k as messages do.
func (k kind) String() string {
	return [...]string{"integer", "number", "string", "true or false", "any value", "list", "map", "text"}[k]
}

type shape struct {
	kind kind
	item *shape // of slices and maps
	ptr  bool
}

type argument struct {
	name     string
	field    int // index of the struct field, -1 when the value is the output itself
	optional bool
	doc      string
	example  string
	shape
}

func argumentsOf(t reflect.Type) ([]argument, error) {
	if t.Kind() != reflect.Struct {
		s, err := shapeOf(t)
		return []argument{{field: -1, shape: s}}, err
	}
	var args []argument
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		s, err := shapeOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		name, options, _ := strings.Cut(f.Tag.Get("marker"), ",")
		switch name {
		case "":
			name = lowerFirst(f.Name)
		case ".":
			name = ""
		}
		args = append(args, argument{name: name, field: i, optional: s.ptr || options == "optional", doc: f.Tag.Get("doc"), example: f.Tag.Get("example"), shape: s})
	}
	return args, nil
}

func shapeOf(t reflect.Type) (shape, error) {
	switch {
	case t == reflect.TypeFor[Raw]():
		return shape{kind: kindRaw}, nil
	case t == reflect.TypeFor[any]():
		return shape{kind: kindAny}, nil
	case t.Kind() == reflect.Pointer:
		s, err := shapeOf(t.Elem())
		s.ptr = true
		return s, err
	}
	switch t.Kind() {
	case reflect.String:
		return shape{kind: kindString}, nil
	case reflect.Int, reflect.Int32:
		return shape{kind: kindInt}, nil
	case reflect.Float64:
		return shape{kind: kindNumber}, nil
	case reflect.Bool:
		return shape{kind: kindBool}, nil
	case reflect.Slice:
		item, err := shapeOf(t.Elem())
		return shape{kind: kindSlice, item: &item}, err
	case reflect.Map:
		item, err := shapeOf(t.Elem())
		if t.Key().Kind() != reflect.String {
			err = fmt.Errorf("the keys of %s are not strings", t)
		}
		return shape{kind: kindMap, item: &item}, err
	}
	return shape{}, fmt.Errorf("%s cannot be a marker argument", t)
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/lazy"
)

// A place is one in a schema, and how an expression of a policy gets to the values there.
type place struct {
	path   string // .properties[spec].properties[size], as the API server writes it
	name   string // spec.size, as users write it
	schema *schema.Schema

	reach
	many  bool // there may be several values, those of a list or a map
	depth int  // of lists and maps around it, for names of variables
	old   *old // nil where a value has none that it is compared with
}

// A reach is the text around what is said of each value of a place, and the value's name in it.
type reach struct{ before, value, after string }

// root is the place of the whole object.
func root(s *schema.Schema) place {
	return place{schema: s, reach: reach{value: "object"}, old: &old{reach: reach{before: "oldObject != null && ", value: "oldObject"}}}
}

// property is the place of one.
func (p place) property(name string, s *schema.Schema) place {
	to := p
	to.path += ".properties[" + name + "]"
	to.name = strings.TrimPrefix(p.name+"."+name, ".")
	to.schema = s
	there := ""
	there, to.value = member(p.value, name)
	to.before += "!" + there + " || " + orNull(s, to.value)
	if p.old != nil {
		there, value := member(p.old.value, name)
		to.old = p.old.at(reach{before: there + " && " + notNull(s, value), value: value})
	}
	return to
}

// items are the place of a list's items.
func (p place) items(s *schema.Schema) place {
	to := p.each(s, "item", "[*]")
	to.path += ".items"
	if p.old != nil && p.schema.ListType == "map" && len(p.schema.ListMapKeys) > 0 {
		to.old = p.old.at(p.sameKeys(to.value))
	} else {
		to.old = p.old.frozen(p)
	}
	return to
}

// sameKeys is the reach of the old item with the keys of a new one.
func (p place) sameKeys(item string) reach {
	was := fmt.Sprintf("old%d", p.depth+1)
	before := p.old.value + ".exists(" + was + ", "
	for _, key := range p.schema.ListMapKeys {
		there, new := member(item, key)
		thereBefore, old := member(was, key)
		before += there + " && " + thereBefore + " && " + new + " == " + old + " && "
	}
	return reach{before: before, value: was, after: ")"}
}

// values are the place of a map's values.
func (p place) values(s *schema.Schema) place {
	key := fmt.Sprintf("key%d", p.depth+1)
	to := p.each(s, "key", "[*]")
	to.path += ".additionalProperties"
	to.value = p.value + "[" + key + "]"
	to.before = p.before + p.value + ".all(" + key + ", " + orNull(s, to.value)
	if p.old != nil {
		to.old = p.old.at(reach{before: key + " in " + p.old.value + " && ", value: p.old.value + "[" + key + "]"})
	}
	return to
}

// each is the place of all entries of this one, by a variable.
func (p place) each(s *schema.Schema, variable, name string) place {
	to := p
	to.name, to.schema, to.many, to.depth = p.name+name, s, true, p.depth+1
	to.value = variable + strconv.Itoa(to.depth)
	to.before += p.value + ".all(" + to.value + ", " + orNull(s, to.value)
	to.after = ")" + p.after
	return to
}

// An old is where the value is that a place had before.
type old struct {
	reach
	// of is the new value that it belongs to when that is not the place's own but the nearest one around it which has
	// an old one, and outside is how much of the text before the place's values stands before that one.
	of      string
	outside int
}

// at is further down.
func (o *old) at(r reach) *old {
	if o.of != "" {
		return o
	}
	return &old{reach: reach{before: o.before + r.before, value: r.value, after: r.after + o.after}}
}

// frozen is the same for all that is below: values of a list without keys have no old ones of their own.
func (o *old) frozen(list place) *old {
	if o == nil || o.of != "" {
		return o
	}
	return &old{reach: o.reach, of: list.value, outside: len(list.before)}
}

// orNull lets null pass, where the schema does: rules do not see it.
func orNull(s *schema.Schema, value string) string {
	if !s.Nullable {
		return ""
	}
	return value + " == null || "
}

// notNull is the same for old values.
func notNull(s *schema.Schema, value string) string {
	if !s.Nullable {
		return ""
	}
	return value + " != null && "
}

var identifier = lazy.Regexp(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// reserved are the words that CEL has for itself
// (https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax).
var reserved = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
	"package", "namespace", "return", "var", "void", "while",
}

// member is how one asks whether an object has a property, and how one gets it.
func member(object, name string) (there, value string) {
	if identifier().MatchString(name) && !slices.Contains(reserved, name) {
		return "has(" + object + "." + name + ")", object + "." + name
	}
	quoted := strconv.Quote(name)
	return "(" + quoted + " in " + object + ")", object + "[" + quoted + "]"
}

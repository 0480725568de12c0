package schema

import (
	"cmp"
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// Locate finds what in the code a place in the schema of a declaration comes from: a marker, else a field, else a type.
// Path leads from the schema to the place, as the API server writes it: .properties[spec].items.pattern. Flat is the
// schema. If path goes on beyond what the code says, as in a default, Locate returns the last place that the code does
// say.
//
// Nothing is remembered for it while schemas are made: it reads the declarations once more.
func Locate(d *load.TypeDecl, flat *Schema, path string) report.Position {
	l := locator{root: d, pos: at{d.File, d.Spec.Pos()}, typ: d.Type(), schema: flat}
	l.describe(d.Type(), 0)
	for path != "" {
		var key, index string
		if key, index, path = Step(path); !l.step(key, index) {
			break
		}
	}
	return l.pos.file.Position(l.pos.pos)
}

// Step takes the first step off a path: its key, and the index in brackets where one follows.
func Step(path string) (key, index, rest string) {
	path = strings.TrimPrefix(path, ".")
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		return path, "", ""
	}
	key, rest = path[:end], path[end:]
	if !strings.HasPrefix(rest, "[") {
		return key, "", rest
	}
	closing := strings.IndexByte(rest, ']')
	if closing < 0 {
		return key, rest[1:], ""
	}
	return key, rest[1:closing], rest[closing+1:]
}

// at is a place in a file.
type at struct {
	file *load.File
	pos  token.Pos
}

// carrier is a list of markers that say something about the present place: those whose name is
// for items of items of what they stand at, depth times.
type carrier struct {
	file   *load.File
	values marker.Values
	depth  int
}

// locator is where the walk along a path has come.
type locator struct {
	root     *load.TypeDecl
	pos      at
	typ      *load.Type // nil when the code says no more
	schema   *Schema    // nil when it is not known
	carriers []carrier
}

// step goes one step and reports whether there may be another one.
func (l *locator) step(key, index string) bool {
	switch key {
	case "properties":
		return l.property(index)
	case "items":
		return l.items()
	case "additionalProperties":
		return l.values()
	}
	l.marked(key, index)
	return false
}

func (l *locator) property(name string) bool {
	d, f := find(l.typ, name, 0)
	if f == nil {
		return false
	}
	l.pos = at{d.File, namePos(f)}
	l.carriers = []carrier{{d.File, f.Markers, 0}}
	l.typ = d.TypeOf(f.Syntax.Type)
	if l.schema != nil {
		l.schema = l.schema.Properties[name]
	}
	l.describe(l.typ, 0)
	return true
}

// namePos is where a field is declared: its name, or the type that it embeds.
func namePos(f *load.Field) token.Pos {
	for _, n := range f.Syntax.Names {
		if n.Name == f.Name {
			return n.Pos()
		}
	}
	return f.Syntax.Pos()
}

// deepest bounds what recursive types can make the locator follow.
const deepest = 50

// find looks for the field that is serialised under a name, also in inlined structs.
func find(t *load.Type, name string, depth int) (*load.TypeDecl, *load.Field) {
	d := structOf(t)
	if d == nil || depth > deepest {
		return nil, nil
	}
	for _, f := range d.Fields() {
		tag, ok := f.Tag.Lookup("json")
		if !ok {
			continue
		}
		own, inline, _ := readTag(tag)
		if !inline && own == name {
			return d, f
		}
		if inline {
			if in, found := find(d.TypeOf(f.Syntax.Type), name, depth+1); found != nil {
				return in, found
			}
		}
	}
	return nil, nil
}

// structOf is the declaration at the end of a type's names that has a struct on its right.
func structOf(t *load.Type) *load.TypeDecl {
	for range deepest {
		switch {
		case t == nil:
			return nil
		case t.Kind == load.Pointer:
			t = t.Elem
			continue
		case t.Decl == nil:
			return nil
		}
		if _, ok := t.Decl.Spec.Type.(*ast.StructType); ok {
			return t.Decl
		}
		t = t.Decl.Right()
	}
	return nil
}

// describe adds the markers of the types that t names, one behind the other.
func (l *locator) describe(t *load.Type, depth int) {
	for range deepest {
		switch {
		case t == nil:
			return
		case t.Kind == load.Pointer:
			t = t.Elem
		case t.Decl == nil:
			return
		default:
			l.carriers = append(l.carriers, carrier{t.Decl.File, t.Decl.Markers(), depth})
			t = t.Decl.Right()
		}
	}
}

func (l *locator) items() bool {
	elem := l.elem(load.Slice, load.Array)
	for i := range l.carriers {
		l.carriers[i].depth++
	}
	l.typ = elem
	if l.schema != nil {
		l.schema = l.schema.Items
	}
	l.describe(elem, 0)
	return true
}

func (l *locator) values() bool {
	l.typ = l.elem(load.Map)
	l.carriers = nil
	if l.schema != nil && l.schema.AdditionalProperties != nil {
		l.schema = l.schema.AdditionalProperties.Schema
	} else {
		l.schema = nil
	}
	l.describe(l.typ, 0)
	return true
}

// elem is the element of the present type when it is of one of the kinds.
func (l *locator) elem(kinds ...load.Kind) *load.Type {
	t := l.typ
	for t != nil && t.Kind == load.Pointer {
		t = t.Elem
	}
	if t == nil {
		return nil
	}
	u := t.Underlying()
	for _, k := range kinds {
		if u.Kind == k {
			return u.Elem
		}
	}
	return nil
}

// marked moves to the marker that says what the key of a schema says, if there is one.
func (l *locator) marked(key, index string) {
	rule := ""
	if n, err := strconv.Atoi(index); err == nil && l.schema != nil && key == "x-kubernetes-validations" && n < len(l.schema.Validations) {
		rule = l.schema.Validations[n].Rule
	}
	want := plainKey(key)
	for _, c := range l.carriers {
		prefix := strings.Repeat("items:", c.depth)
		for _, v := range c.values {
			name, items := strings.CutPrefix(strings.TrimPrefix(v.Definition.Name, "kubebuilder:validation:"), prefix)
			if !items || strings.HasPrefix(name, "items:") {
				continue
			}
			if rule != "" && l.says(v, rule) || rule == "" && plainKey(name) == want {
				l.pos = at{c.file, v.Pos}
				return
			}
		}
	}
}

// plainKey is what the key of a schema and the name of its marker have in common.
func plainKey(name string) string {
	name = name[strings.LastIndexByte(name, ':')+1:]
	name = strings.ReplaceAll(strings.ToLower(name), "-", "")
	name = strings.TrimPrefix(name, "xkubernetes")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "x"), "s")
	return cmp.Or(synonyms[name], name)
}

// synonyms are markers and keys that are called otherwise.
var synonyms = map[string]string{"structtype": "maptype"}

// says tells whether a marker makes the rule.
func (l *locator) says(v marker.Value, rule string) bool {
	var s Schema
	switch m := v.Data.(type) {
	case celRule, immutable, atMostOneOf, exactlyOneOf, atLeastOneOf:
		if m.(modifier).modify(&s, context{decl: l.root}) != nil {
			return false
		}
	}
	for _, r := range s.Validations {
		if r.Rule == rule {
			return true
		}
	}
	return false
}

package tree

import "slices"

// A Node is one of [*Map], [*List], [Scalar], [Action] and [YAML].
type Node interface{ node() }

// A Map has fields in the order in which they are written.
type Map struct{ Fields []Field }

// A Field exists while its condition holds. Without a key it stands for several fields: its value is a [YAML] of a map.
type Field struct {
	Key   string
	When  Condition
	Value Node
}

// A List is a list with conditional items.
type List struct{ Items []Item }

// An Item exists while its condition holds. If it is Spliced, it stands for several items: its value is a [YAML] of a
// list.
type Item struct {
	When    Condition
	Spliced bool
	Value   Node
}

// A Scalar is a string, number, boolean or nil.
type Scalar struct{ Value any }

// An Action is a scalar that the template renders: text with actions of the template language.
type Action string

// YAML is an expression that renders the YAML of a whole part, such as `toYaml .Values.manager.resources`.
type YAML string

func (*Map) node()   {}
func (*List) node()  {}
func (Scalar) node() {}
func (Action) node() {}
func (YAML) node()   {}

// Literal returns the tree of a value, as encoding/json decodes it, without conditions.
func Literal(value any) Node { return Merge(value, nil)[0].Value }

// Needed returns when a node has any content. A part whose content is conditional must not be written without it. A
// part that is empty from the start is always written.
func Needed(n Node) Condition {
	var whens []Condition
	switch n := n.(type) {
	case *Map:
		for _, f := range n.Fields {
			whens = append(whens, f.Needed())
		}
	case *List:
		for _, i := range n.Items {
			whens = append(whens, i.Needed())
		}
	}
	return Any(whens...)
}

// Needed returns when the field is written.
func (f Field) Needed() Condition { return All(f.When, Needed(f.Value)) }

// Needed returns when the item is written.
func (i Item) Needed() Condition { return All(i.When, Needed(i.Value)) }

// Find returns the first field of a key, or nil. M may be nil.
func (m *Map) Find(key string) *Field {
	if m == nil {
		return nil
	}
	if i := slices.IndexFunc(m.Fields, func(f Field) bool { return f.Key == key }); i >= 0 {
		return &m.Fields[i]
	}
	return nil
}

// At returns the map below fields of these keys, or nil.
func (m *Map) At(keys ...string) *Map {
	for _, key := range keys {
		f := m.Find(key)
		if f == nil {
			return nil
		}
		m, _ = f.Value.(*Map)
	}
	return m
}

// List returns the list in the field of a key, or nil.
func (m *Map) List(key string) *List {
	f := m.Find(key)
	if f == nil {
		return nil
	}
	list, _ := f.Value.(*List)
	return list
}

// Text returns the string in the field of a key, or "".
func (m *Map) Text(key string) string {
	f := m.Find(key)
	if f == nil {
		return ""
	}
	s, _ := f.Value.(Scalar)
	text, _ := s.Value.(string)
	return text
}

// Set replaces all fields of a key by one. A new key is inserted in the order of keys.
func (m *Map) Set(field Field) {
	at := slices.IndexFunc(m.Fields, func(f Field) bool { return f.Key >= field.Key })
	if at < 0 {
		at = len(m.Fields)
	}
	m.Remove(field.Key)
	m.Fields = slices.Insert(m.Fields, at, field)
}

// Remove removes all fields of a key.
func (m *Map) Remove(key string) {
	m.Fields = slices.DeleteFunc(m.Fields, func(f Field) bool { return f.Key == key })
}

// Open moves the condition of a key's only field to the fields or items below it, so that others can be added there.
func (m *Map) Open(key string) {
	f := m.Find(key)
	others := 0
	for _, other := range m.Fields {
		if other.Key == key {
			others++
		}
	}
	if others != 1 || f.When.Always() {
		return
	}
	switch value := f.Value.(type) {
	case *Map:
		for i, inner := range value.Fields {
			value.Fields[i].When = All(f.When, inner.When)
		}
	case *List:
		for i, inner := range value.Items {
			value.Items[i].When = All(f.When, inner.When)
		}
	default:
		return
	}
	f.When = Condition{}
}

// Ensure returns the map in the field of a key, and adds it if it is missing. Its condition moves as with [Map.Open].
func (m *Map) Ensure(key string) *Map {
	if m.Find(key) == nil {
		m.Set(Field{Key: key, Value: &Map{}})
	}
	m.Open(key)
	inner, ok := m.Find(key).Value.(*Map)
	if !ok {
		inner = &Map{}
		m.Set(Field{Key: key, Value: inner})
	}
	return inner
}

// Plain returns the value of a node without conditions and actions, in the types of encoding/json.
func Plain(n Node) (value any, ok bool) {
	switch n := n.(type) {
	case Scalar:
		return n.Value, true
	case *Map:
		all := map[string]any{}
		for _, f := range n.Fields {
			v, ok := Plain(f.Value)
			if !ok || !f.When.Always() {
				return nil, false
			}
			all[f.Key] = v
		}
		return all, true
	case *List:
		all := []any{}
		for _, i := range n.Items {
			v, ok := Plain(i.Value)
			if !ok || !i.When.Always() {
				return nil, false
			}
			all = append(all, v)
		}
		return all, true
	}
	return nil, false
}

// Maps returns the items that are maps.
func (l *List) Maps() []*Map {
	if l == nil {
		return nil
	}
	var all []*Map
	for _, i := range l.Items {
		if m, ok := i.Value.(*Map); ok {
			all = append(all, m)
		}
	}
	return all
}

package settings

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// Take takes the settings out of a model's documents. Chart is the chart's name.
func Take(m *model.Model, chart string) *Values {
	t := &extractor{model: m, values: &Values{}, chart: chart}
	t.takeManager()
	t.takeServiceAccount()
	t.takeDefinitions()
	t.takeUserRoles()
	t.takeFeatures()
	t.label()
	t.values.Set("nameOverride", "Part of the names of all objects, after the name of the release.\nBy default it is the chart's name.", "")
	t.values.Set("fullnameOverride", t.aboutFullname(), "")
	return t.values
}

// aboutFullname is the comment of fullnameOverride.
func (t *extractor) aboutFullname() string {
	if t.model.Beginning() != "" {
		return "The beginning of the names of all objects."
	}
	return "The beginning of the names of all objects. With " + t.chart + " they are as in the kustomization,\nas in a release of this name."
}

type extractor struct {
	model  *model.Model
	values *Values
	chart  string
}

// include is the expression that includes a named template of the chart.
func (t *extractor) include(name string) string { return `include "` + t.chart + "." + name + `" .` }

func value(path string) string { return ".Values." + path }

// isMarked reports whether a value contains a mark, which only a template can replace.
func isMarked(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, model.PrefixMark) || strings.Contains(v, model.NamespaceMark)
	case map[string]any:
		for key, inner := range v {
			if isMarked(key) || isMarked(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if isMarked(inner) {
				return true
			}
		}
	}
	return false
}

// plain returns the value of a node that can be a setting.
func plain(n tree.Node) (any, bool) {
	v, ok := tree.Plain(n)
	return v, ok && !isMarked(v)
}

// whole makes a field a setting. The default is its value, or nothing if it is missing. If the field depends on
// features, the default is empty, and a value has priority over them.
func (t *extractor) whole(m *tree.Map, key, path, comment string, nothing any) {
	literal, follows := nothing, false
	if f := m.Find(key); f != nil {
		if v, ok := plain(f.Value); ok && f.When.Always() {
			literal = v
		} else {
			follows = true
		}
	}
	t.values.Set(path, comment, literal)
	var node tree.Node = tree.YAML("toYaml " + value(path))
	if _, text := literal.(string); text {
		node = tree.Action("{{ " + value(path) + " | quote }}")
	}
	field := tree.Field{Key: key, When: tree.If(value(path)), Value: node}
	if follows {
		t.instead(m, field)
		return
	}
	m.Set(field)
}

// number is whole for a number: zero is a value, and the empty default is "".
func (t *extractor) number(m *tree.Map, key, path, comment string) {
	var literal any = ""
	f := m.Find(key)
	fixed := f != nil && f.When.Always()
	if fixed {
		if v, ok := plain(f.Value); ok {
			literal = v
		}
	}
	t.values.Set(path, comment, literal)
	set := tree.If("(not (has " + value(path) + ` (list nil "")))`) // zero is a value
	field := tree.Field{Key: key, When: set, Value: tree.Action("{{ " + value(path) + " }}")}
	if fixed {
		m.Set(field)
		return
	}
	t.instead(m, field)
}

// instead adds a field. Others with its key count only while its condition does not hold.
func (t *extractor) instead(m *tree.Map, field tree.Field) {
	at := -1
	for i, f := range m.Fields {
		if f.Key != field.Key {
			continue
		}
		if at < 0 {
			at = i
		}
		m.Fields[i].When = tree.All(field.When.Not(), f.When)
	}
	m.Fields = slices.Insert(m.Fields, max(at, 0), field)
}

// leading makes the unconditional literal items at the beginning of a list a setting; for arguments, the first run of
// such items. A missing list is added.
func (t *extractor) leading(m *tree.Map, key, path, comment string) {
	list := m.List(key)
	if list == nil {
		if m.Find(key) != nil {
			return
		}
		list = &tree.List{}
		m.Set(tree.Field{Key: key, Value: list})
	}
	literal := []any{}
	settable := func(item tree.Item) bool { _, ok := plain(item.Value); return ok && item.When.Always() }
	first := 0
	if key == "args" { // their order does not matter
		first = max(0, slices.IndexFunc(list.Items, settable))
	}
	rest := list.Items[first:]
	for len(rest) > 0 && settable(rest[0]) {
		v, _ := plain(rest[0].Value)
		literal, rest = append(literal, v), rest[1:]
	}
	t.values.Set(path, comment, literal)
	splice := tree.Item{When: tree.If(value(path)), Spliced: true, Value: tree.YAML("toYaml " + value(path))}
	list.Items = slices.Concat(list.Items[:first], []tree.Item{splice}, rest)
}

// trailing adds a setting whose items are appended to a list. A missing list is added.
func (t *extractor) trailing(m *tree.Map, key, path, comment string) {
	t.values.Set(path, comment, []any{})
	when := tree.If(value(path))
	m.Open(key)
	if list := m.List(key); list != nil {
		list.Items = append(list.Items, tree.Item{When: when, Spliced: true, Value: tree.YAML("toYaml " + value(path))})
	} else if m.Find(key) == nil {
		m.Set(tree.Field{Key: key, When: when, Value: tree.YAML("toYaml " + value(path))})
	}
}

// more adds a setting whose fields are added to a map.
func (t *extractor) more(m *tree.Map, path, comment string) {
	t.values.Set(path, comment, map[string]any{})
	m.Fields = append(m.Fields, tree.Field{When: tree.If(value(path)), Value: tree.YAML("toYaml " + value(path))})
}

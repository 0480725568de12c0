package generate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// MarkerGroup is a heading of help and the markers or arguments below it. Its JSON
// form is the one that controller-gen prints.
type MarkerGroup struct {
	Category string      `json:"category"` // "" for what help in text leaves out
	Markers  []MarkerDoc `json:"markers"`
}

// MarkerDoc describes a marker, or an argument of [Parse].
type MarkerDoc struct {
	Name     string `json:"name"`
	Target   string `json:"target"`  // package, type or field
	Summary  string `json:"summary"` // a phrase that continues "This marker …"
	Category string `json:"category"`
	// InsteadOf is set for what should not be written any more, and names what
	// to write, if there is something.
	InsteadOf *string    `json:"deprecatedInFavorOf,omitempty"`
	Fields    []FieldDoc `json:"fields,omitempty"`
}

// FieldDoc describes an argument of a marker; the value after its equals sign has
// no name.
type FieldDoc struct {
	Name string `json:"name"`
	TypeDoc
	Summary string `json:"summary"` // a phrase that continues "This argument …"; may be empty
}

// TypeDoc is the form of a value.
type TypeDoc struct {
	Type     string   `json:"type"` // int, string, bool, any, slice, raw; "" for numbers
	Optional bool     `json:"optional"`
	Item     *TypeDoc `json:"itemType,omitempty"` // of slices
	text     string
}

// String is the type as help in text shows it.
func (t TypeDoc) String() string { return t.text }

// MarkerHelp describes the markers of the generators called names, as a version of controller-gen knows them, under
// their headings.
func MarkerHelp(version string, names ...string) []MarkerGroup {
	groups := make(groups)
	for _, g := range in(edition.For(version), Generators()) {
		if slices.Contains(names, g.Name) {
			for _, d := range g.Markers {
				groups.add(d.Category, d)
			}
		}
	}
	return groups.sorted(func(a, b MarkerDoc) int {
		return cmp.Or(strings.Compare(b.Name, a.Name), strings.Compare(b.Target, a.Target))
	})
}

// OptionHelp describes the arguments of [Parse] that a version of controller-gen has.
func OptionHelp(version string) []MarkerGroup {
	groups := make(groups)
	groups.add("generic", arguments.Paths())
	for _, d := range arguments.Rules("output") {
		groups.add("output rules (optionally as output:<generator>:...)", d)
	}
	for _, g := range in(edition.For(version), Generators()) {
		groups.add("generators", g.Options)
		for _, d := range arguments.Rules("output:" + g.Name) {
			groups.add("", d)
		}
	}
	return groups.sorted(compareOptions)
}

// compareOptions sorts by generator, and the rules of each backwards, as controller-gen does.
func compareOptions(a, b MarkerDoc) int {
	generatorA, ruleA := splitOption(a.Name)
	generatorB, ruleB := splitOption(b.Name)
	return cmp.Or(strings.Compare(generatorA, generatorB), strings.Compare(ruleB, ruleA))
}

func splitOption(name string) (generator, rule string) {
	switch parts := strings.Split(name, ":"); len(parts) {
	case 1:
		return name, ""
	case 2:
		return "", parts[1]
	default:
		return parts[1], parts[2]
	}
}

// groups are markers by heading.
type groups map[string][]MarkerDoc

// add adds a marker, which several generators may read, under a heading.
func (g groups) add(category string, d marker.Definition) {
	same := func(other MarkerDoc) bool { return other.Name == d.Name && other.Target == d.Target.String() }
	if !slices.ContainsFunc(g[category], same) {
		g[category] = append(g[category], describe(d))
	}
}

func (g groups) sorted(order func(a, b MarkerDoc) int) []MarkerGroup {
	list := make([]MarkerGroup, 0, len(g))
	for category, markers := range g {
		slices.SortFunc(markers, order)
		list = append(list, MarkerGroup{Category: category, Markers: markers})
	}
	slices.SortFunc(list, func(a, b MarkerGroup) int { return strings.Compare(a.Category, b.Category) })
	return list
}

func describe(d marker.Definition) MarkerDoc {
	doc := MarkerDoc{Name: d.Name, Target: d.Target.String(), Summary: d.Doc, Category: d.Category}
	if d.Deprecated {
		doc.InsteadOf = &d.Instead
	}
	for _, a := range d.Arguments() {
		doc.Fields = append(doc.Fields, FieldDoc{Name: a.Name, TypeDoc: describeType(a.Type, a.Optional), Summary: a.Doc})
	}
	return doc
}

// describeType names a type as controller-gen does, which has no names for numbers and maps.
func describeType(t marker.ArgumentType, optional bool) TypeDoc {
	doc := TypeDoc{Type: t.Kind, Optional: optional, text: t.String()}
	if t.Kind == "number" || t.Kind == "map" {
		doc.Type = ""
	}
	if t.Item != nil {
		item := describeType(*t.Item, false)
		doc.Item = &item
	}
	return doc
}

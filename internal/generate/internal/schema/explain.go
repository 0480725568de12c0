package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/lazy"
)

// Recursion is the name of the type at a path, as of [Locate], if a value of the type may contain another one at that
// path; else "". A CRD has no schema for such a type: what is below the path is left out.
func Recursion(d *load.TypeDecl, flat *Schema, path string) string {
	l := locator{typ: d.Type(), schema: flat}
	seen := []*load.TypeDecl{structOf(l.typ)}
	for path != "" {
		var key, index string
		if key, index, path = Step(path); !l.step(key, index) {
			break
		}
		at := structOf(l.typ)
		if at != nil && slices.Contains(seen, at) {
			return at.Name()
		}
		seen = append(seen, at)
	}
	return ""
}

// Unbounded lists what makes a CEL rule at a path of flat costly: lists, maps and strings without a greatest length,
// which either contain the rule's value or are named by the rule. Places are as users write them: spec.parts[].names.
func Unbounded(flat *Schema, path string) []string {
	u := unbounded{found: make(map[string]bool)}
	for path != "" {
		key, index, rest := Step(path)
		if key == "x-kubernetes-validations" {
			u.rules(flat.Validations)
			break
		}
		u.look(flat)
		if flat, path = u.enter(flat, key, index), rest; flat == nil {
			return nil
		}
	}
	u.below(flat)
	return slices.Sorted(maps.Keys(u.found))
}

// unbounded is where the walk along a path has come, and what it has found.
type unbounded struct {
	place string
	names map[string]bool // that rules mention; nil above the rules
	found map[string]bool
}

var identifier = lazy.Regexp(`[A-Za-z_][A-Za-z0-9_]*`)

func (u *unbounded) rules(list []Validation) {
	u.names = make(map[string]bool)
	for _, v := range list {
		for _, name := range identifier().FindAllString(v.Rule, -1) {
			u.names[name] = true
		}
	}
}

// enter goes one step down from s.
func (u *unbounded) enter(s *Schema, key, index string) *Schema {
	switch key {
	case "properties":
		u.place = strings.TrimPrefix(u.place+"."+index, ".")
		return s.Properties[index]
	case "items":
		u.place += "[]"
		return s.Items
	case "additionalProperties":
		u.place += "{}"
		if s.AdditionalProperties != nil {
			return s.AdditionalProperties.Schema
		}
	}
	return nil
}

// look notes the place if nothing bounds what s allows there.
func (u *unbounded) look(s *Schema) {
	switch {
	case s.Type == "array" && s.MaxItems == nil,
		s.AdditionalProperties != nil && s.MaxProperties == nil,
		s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0 && s.Format == "" && u.names != nil:
		u.found[u.place] = true
	}
}

// below looks at s and all below it that the rules name.
func (u *unbounded) below(s *Schema) {
	u.look(s)
	for name, p := range s.Properties {
		if u.names[name] {
			u.inside(s, "properties", name, p)
		}
	}
	if s.Items != nil {
		u.inside(s, "items", "", s.Items)
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		u.inside(s, "additionalProperties", "", a.Schema)
	}
}

func (u *unbounded) inside(s *Schema, key, index string, part *Schema) {
	place := u.place
	u.enter(s, key, index)
	u.below(part)
	u.place = place
}

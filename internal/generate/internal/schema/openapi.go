package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// OpenAPI returns an OpenAPI v2 document with a definition for each of the
// declarations and for all that they refer to, as the structure of what is
// applied to a server needs them: types, defaults, and how lists and maps are
// merged. References stay references, apart from those to inlined types.
func (b *Builder) OpenAPI(roots []*load.TypeDecl) ([]byte, error) {
	definitions := make(map[string]any)
	for name, s := range b.definitions(roots) {
		definitions[name] = openAPI(s)
	}
	return json.Marshal(map[string]any{
		"swagger":     "2.0",
		"info":        map[string]any{"title": "types", "version": "v1"},
		"paths":       map[string]any{},
		"definitions": definitions,
	})
}

// definitions are the schemas of the declarations and of all that they refer to, with what they inline in its place, by
// [DefinitionName].
func (b *Builder) definitions(roots []*load.TypeDecl) map[string]*Schema {
	b.mu.Lock()
	defer b.mu.Unlock()
	definitions := make(map[string]*Schema)
	todo, seen := slices.Clone(roots), make(map[*load.TypeDecl]bool)
	for len(todo) > 0 {
		d := todo[0]
		todo = todo[1:]
		if seen[d] {
			continue
		}
		seen[d] = true
		s := b.definition(d, nil)
		definitions[DefinitionName(d)] = s
		todo = append(todo, s.references()...)
	}
	return definitions
}

// definition is the schema of d with what it inlines. Where that is a type which gives another one its name, the
// other's fields count only if there are none besides: so controller-gen has it. Within are those being described.
func (b *Builder) definition(d *load.TypeDecl, within []*load.TypeDecl) *Schema {
	s := b.withInlined(b.renamed(d), nil)
	if s.AllOf == nil {
		return s
	}
	var names []*load.TypeDecl
	for _, ref := range s.named() {
		if !slices.Contains(names, ref) {
			names = append(names, ref)
		}
	}
	s = b.merge(s, d)
	if len(names) != 1 || slices.Contains(within, names[0]) {
		return s
	}
	out := *b.definition(names[0], append(slices.Clip(within), d))
	if len(s.Properties) > 0 {
		out.Properties = s.Properties
	}
	out.saysAlso(s)
	return &out
}

// named are the declarations that stand in allOf by their names.
func (s *Schema) named() (all []*load.TypeDecl) {
	for _, part := range s.AllOf {
		if part.ref != nil {
			all = append(all, part.ref)
		}
		all = append(all, part.named()...)
	}
	return all
}

// saysAlso has s say what a schema for it says about how it is merged.
func (s *Schema) saysAlso(more *Schema) {
	if more.ListType != "" {
		s.ListType = more.ListType
	}
	if more.ListMapKeys != nil {
		s.ListMapKeys = more.ListMapKeys
	}
	if more.MapType != "" {
		s.MapType = more.MapType
	}
	if more.Default != nil {
		s.Default = more.Default
	}
}

// references are the declarations that s refers to.
func (s *Schema) references() (all []*load.TypeDecl) {
	if s.ref != nil {
		all = append(all, s.ref)
	}
	if s.Items != nil {
		all = append(all, s.Items.references()...)
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		all = append(all, a.Schema.references()...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, s.Properties[name].references()...)
	}
	return all
}

// renamed is the first stage for a declaration; one that only gives another type
// a name has that one's, with what it says itself.
func (b *Builder) renamed(d *load.TypeDecl) *Schema {
	s := b.schemaOf(d)
	for seen := map[*load.TypeDecl]bool{d: true}; s.ref != nil && !seen[s.ref]; {
		seen[s.ref] = true
		target := *b.schemaOf(s.ref)
		target.saysAlso(s)
		s = &target
	}
	return s
}

// withInlined returns s with the schemas of inlined types in place of references to them, but for those that give other
// types their names. Within are those being replaced, which cannot contain themselves.
func (b *Builder) withInlined(s *Schema, within []*load.TypeDecl) *Schema {
	if s.AllOf == nil {
		return s
	}
	out := *s
	out.AllOf = make([]*Schema, len(s.AllOf))
	for i, part := range s.AllOf {
		if d := part.ref; d != nil && !slices.Contains(within, d) {
			part = b.withInlined(b.schemaOf(d), append(slices.Clip(within), d))
		}
		out.AllOf[i] = part
	}
	return &out
}

// openAPI is a schema of the first stage as OpenAPI v2 has it.
func openAPI(s *Schema) map[string]any {
	m := make(map[string]any)
	set(m, "default", s.Default, s.Default != nil)
	set(m, "x-kubernetes-list-type", s.ListType, s.ListType != "")
	set(m, "x-kubernetes-list-map-keys", s.ListMapKeys, len(s.ListMapKeys) > 0)
	set(m, "x-kubernetes-map-type", s.MapType, s.MapType != "")
	set(m, "x-kubernetes-preserve-unknown-fields", true, s.PreserveUnknownFields)
	set(m, "x-kubernetes-embedded-resource", true, s.EmbeddedResource)
	set(m, "x-kubernetes-int-or-string", true, s.IntOrString)
	if s.ref != nil {
		m["$ref"] = "#/definitions/" + DefinitionName(s.ref)
	} else {
		set(m, "type", s.Type, s.Type != "")
		set(m, "format", s.Format, s.Format != "")
	}
	if s.Items != nil {
		m["items"] = openAPI(s.Items)
	}
	if a := s.AdditionalProperties; a != nil {
		if m["additionalProperties"] = any(true); a.Schema != nil {
			m["additionalProperties"] = openAPI(a.Schema)
		}
	}
	if len(s.Properties) > 0 {
		properties := make(map[string]any, len(s.Properties))
		for name, p := range s.Properties {
			properties[name] = openAPI(p)
		}
		m["properties"] = properties
	}
	return m
}

func set(m map[string]any, key string, value any, present bool) {
	if present {
		m[key] = value
	}
}

// DefinitionName is what the definition of a type is called: the parts of the
// domain that its import path begins with are in reverse, and dots divide all.
func DefinitionName(d *load.TypeDecl) string {
	parts := strings.Split(d.Package.Path, "/")
	if domain := strings.Split(parts[0], "."); len(domain) > 1 {
		slices.Reverse(domain)
		parts[0] = strings.Join(domain, ".")
	}
	return strings.Join(append(parts, d.Name()), ".")
}

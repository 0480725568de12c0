package schema

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// Flat returns the schema of a declaration with nothing left to look up.
func (b *Builder) Flat(d *load.TypeDecl) *Schema {
	b.mu.Lock()
	defer b.mu.Unlock()
	root, ok := b.flat[d]
	if !ok {
		root = b.resolve(b.schemaOf(d))
		b.flat[d] = root
	}
	b.judgeUse(use{d, true})
	return b.merge(root, d)
}

// flatOf is the second stage for a type that is referred to. A type that contains
// itself is cut off with a schema that allows everything.
func (b *Builder) flatOf(d *load.TypeDecl) *Schema {
	if s, ok := b.flat[d]; ok {
		return s
	}
	b.flat[d] = &Schema{}
	s := b.resolve(b.schemaOf(d))
	b.flat[d] = s
	return s
}

// resolve returns s with all references replaced.
func (b *Builder) resolve(s *Schema) *Schema {
	if s.ref != nil {
		return overlay(b.flatOf(s.ref), s)
	}
	if s.Items == nil && s.AllOf == nil && s.AnyOf == nil && len(s.Properties) == 0 && s.AdditionalProperties == nil {
		return s
	}
	out := *s
	if s.Items != nil {
		out.Items = b.resolve(s.Items)
	}
	out.AllOf = b.resolveAll(s.AllOf)
	out.AnyOf = b.resolveAll(s.AnyOf)
	if len(s.Properties) > 0 {
		out.Properties = make(map[string]*Schema, len(s.Properties))
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			out.Properties[name] = b.resolve(s.Properties[name])
		}
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		out.AdditionalProperties = &Additional{Schema: b.resolve(a.Schema)}
	}
	return &out
}

func (b *Builder) resolveAll(list []*Schema) []*Schema {
	if list == nil {
		return nil
	}
	out := make([]*Schema, len(list))
	for i, s := range list {
		out[i] = b.resolve(s)
	}
	return out
}

// overlay is target together with what the reference to it says besides. For
// documentation the reference's wins, and what only the target says stays.
func overlay(target, reference *Schema) *Schema {
	field := *reference
	field.ref = nil
	field.Description, field.Title, field.ExternalDocs, field.Example = "", "", nil, nil
	out := &Schema{
		AllOf:        []*Schema{target, &field},
		Description:  target.Description,
		Title:        target.Title,
		ExternalDocs: target.ExternalDocs,
		Example:      target.Example,
	}
	if reference.Description != "" {
		out.Description = reference.Description
	}
	if reference.Title != "" {
		out.Title = reference.Title
	}
	if reference.ExternalDocs != nil {
		out.ExternalDocs = reference.ExternalDocs
	}
	if reference.Example != nil {
		out.Example = reference.Example
	}
	return out
}

package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
	"github.com/slipway-dev/slipway/internal/report"
)

// merge is the third stage: s with each allOf merged into the schema around it.
// What cannot be merged stays there. Root is what findings are reported at.
func (b *Builder) merge(s *Schema, root *load.TypeDecl) *Schema {
	if done := b.merged[s]; done != nil {
		return done
	}
	m := merger{out: *s, builder: b, root: root}
	m.out.AllOf = nil
	for _, part := range s.AllOf {
		m.add(part)
	}
	out := m.out
	out.AllOf = b.mergeAll(out.AllOf, root)
	out.AnyOf = b.mergeAll(out.AnyOf, root)
	if out.Items != nil {
		out.Items = b.merge(out.Items, root)
	}
	if a := out.AdditionalProperties; a != nil && a.Schema != nil {
		out.AdditionalProperties = &Additional{Schema: b.merge(a.Schema, root)}
	}
	if len(out.Properties) > 0 {
		properties := make(map[string]*Schema, len(out.Properties))
		for name, p := range out.Properties {
			properties[name] = b.merge(p, root)
		}
		out.Properties = properties
		out.order = yaml.Sorted(maps.Keys(properties))
	}
	b.merged[s] = &out
	return &out
}

func (b *Builder) mergeAll(list []*Schema, root *load.TypeDecl) []*Schema {
	if list == nil {
		return nil
	}
	out := make([]*Schema, len(list))
	for i, s := range list {
		out[i] = b.merge(s, root)
	}
	return out
}

// merger merges schemas into one. What its output shares with others it copies
// before changing it.
type merger struct {
	out     Schema
	builder *Builder
	root    *load.TypeDecl

	// left holds what both sides of the merge going on say differently.
	left, right Schema
	conflict    bool
}

// add merges s: first what stands in its allOf, then itself.
func (m *merger) add(s *Schema) {
	for _, part := range s.AllOf {
		m.add(part)
	}
	m.left, m.right, m.conflict = Schema{}, Schema{}, false
	m.words(s)
	m.bounds(s)
	m.structure(s)
	m.extensions(s)
	if m.conflict {
		left, right := m.left, m.right
		m.out.AllOf = append(slices.Clip(m.out.AllOf), &left, &right)
	}
	if len(m.out.Required) > 0 {
		m.out.Required = slices.Compact(slices.Sorted(slices.Values(m.out.Required)))
	}
}

// either takes what only one side says, and moves what both say differently into
// the allOf; out, left and right are the same field of the merger's schemas.
func either[T comparable](m *merger, out, left, right *T, in T) {
	var none T
	switch {
	case in == none || *out == in:
	case *out == none:
		*out = in
	default:
		*left, *right, *out = *out, in, none
		m.conflict = true
	}
}

// eitherSet is either for pointers, which conflict when both sides say something, even the same.
func eitherSet[T any](m *merger, out, left, right **T, in *T) {
	switch {
	case in == nil:
	case *out == nil:
		*out = in
	default:
		*left, *right, *out = *out, in, nil
		m.conflict = true
	}
}

func (m *merger) words(s *Schema) {
	if m.out.Type == "" {
		m.out.Type = s.Type
	} else if s.Type != "" && s.Type != m.out.Type {
		m.builder.loader.Report(report.Finding{
			Rule:     report.RuleInvalidSchema,
			Position: m.root.File.Position(m.root.Spec.Pos()),
			Message:  fmt.Sprintf("%s: a field and its type, or two embedded types, have different types: %s and %s", m.root.Name(), m.out.Type, s.Type),
			Fatal:    true,
		})
	}
	either(m, &m.out.Format, &m.left.Format, &m.right.Format, s.Format)
	either(m, &m.out.Pattern, &m.left.Pattern, &m.right.Pattern, s.Pattern)
	m.enum(s)
	switch {
	case s.Default == nil || sameText(m.out.Default, s.Default):
	case m.out.Default == nil:
		m.out.Default = s.Default
	default:
		m.left.Default, m.right.Default, m.out.Default = m.out.Default, s.Default, nil
		m.conflict = true
	}
}

func (m *merger) enum(s *Schema) {
	switch {
	case len(s.Enum) == 0:
	case len(m.out.Enum) == 0:
		m.out.Enum = s.Enum
	case !m.edition().KeepEnum:
		m.left.Enum, m.right.Enum, m.out.Enum = m.out.Enum, s.Enum, nil
		m.conflict = true
	}
}

// edition is what the merging of schemas depends on.
func (m *merger) edition() *edition.Schemas { return &m.builder.loader.Edition().Schemas }

// sameText reports whether two texts are one: made once, by the marker of one
// declaration. Other texts conflict even when they say the same.
func sameText(a, b json.RawMessage) bool {
	return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0]
}

func (m *merger) bounds(s *Schema) {
	out, left, right := &m.out, &m.left, &m.right
	eitherSet(m, &out.Maximum, &left.Maximum, &right.Maximum, s.Maximum)
	eitherSet(m, &out.Minimum, &left.Minimum, &right.Minimum, s.Minimum)
	eitherSet(m, &out.MultipleOf, &left.MultipleOf, &right.MultipleOf, s.MultipleOf)
	eitherSet(m, &out.MaxLength, &left.MaxLength, &right.MaxLength, s.MaxLength)
	eitherSet(m, &out.MinLength, &left.MinLength, &right.MinLength, s.MinLength)
	eitherSet(m, &out.MaxItems, &left.MaxItems, &right.MaxItems, s.MaxItems)
	eitherSet(m, &out.MinItems, &left.MinItems, &right.MinItems, s.MinItems)
	keep := m.edition().EqualSizes
	if !keep || !sameInt(out.MaxProperties, s.MaxProperties) {
		eitherSet(m, &out.MaxProperties, &left.MaxProperties, &right.MaxProperties, s.MaxProperties)
	}
	if !keep || !sameInt(out.MinProperties, s.MinProperties) {
		eitherSet(m, &out.MinProperties, &left.MinProperties, &right.MinProperties, s.MinProperties)
	}
	out.ExclusiveMaximum = out.ExclusiveMaximum || s.ExclusiveMaximum
	out.ExclusiveMinimum = out.ExclusiveMinimum || s.ExclusiveMinimum
	out.UniqueItems = out.UniqueItems || s.UniqueItems
	out.Nullable = out.Nullable || s.Nullable
}

func sameInt(a, b *int64) bool { return a != nil && b != nil && *a == *b }

func (m *merger) structure(s *Schema) {
	m.out.Required = slices.Concat(m.out.Required, s.Required)
	eitherSet(m, &m.out.Items, &m.left.Items, &m.right.Items, s.Items)
	switch {
	case len(s.AnyOf) == 0:
	case len(m.out.AnyOf) == 0:
		m.out.AnyOf = s.AnyOf
	default:
		m.left.AnyOf, m.right.AnyOf, m.out.AnyOf = m.out.AnyOf, s.AnyOf, nil
		m.conflict = true
	}
	m.properties(s)
	switch a := s.AdditionalProperties; {
	case a == nil:
	case m.out.AdditionalProperties == nil:
		m.out.AdditionalProperties = a
	case a.Schema != nil:
		m.out.AdditionalProperties = &Additional{Schema: m.both(m.out.AdditionalProperties.Schema, a.Schema)}
	}
}

func (m *merger) properties(s *Schema) {
	if s.Properties == nil {
		return
	}
	if m.out.Properties == nil {
		m.out.Properties = s.Properties
		return
	}
	properties := maps.Clone(m.out.Properties)
	for name, p := range s.Properties {
		if existing := properties[name]; existing != nil {
			p = m.both(existing, p)
		}
		properties[name] = p
	}
	m.out.Properties = properties
}

// both is a with b merged into it. Their own allOfs are merged when it is their
// turn.
func (m *merger) both(a, b *Schema) *Schema {
	inner := merger{builder: m.builder, root: m.root}
	if a != nil {
		inner.out = *a
	}
	inner.add(b)
	return &inner.out
}

// extensions merges what later parts override.
func (m *merger) extensions(s *Schema) {
	m.out.PreserveUnknownFields = m.out.PreserveUnknownFields || s.PreserveUnknownFields
	m.out.EmbeddedResource = m.out.EmbeddedResource || s.EmbeddedResource
	m.out.IntOrString = m.out.IntOrString || s.IntOrString
	m.list(s)
	if s.MapType != "" {
		m.out.MapType = s.MapType
	}
	switch {
	case m.edition().JoinRules || s.Validations == nil || m.out.Validations == nil:
		m.out.Validations = slices.Concat(s.Validations, m.out.Validations)
	default:
		m.left.Validations, m.right.Validations, m.out.Validations = m.out.Validations, s.Validations, nil
		m.conflict = true
	}
}

// list merges what is said about lists.
func (m *merger) list(s *Schema) {
	override := m.edition().LastList
	switch {
	case s.ListType == "":
	case override || m.out.ListType == "":
		m.out.ListType = s.ListType
	default:
		m.left.ListType, m.right.ListType, m.out.ListType = m.out.ListType, s.ListType, ""
		m.conflict = true
	}
	switch {
	case s.ListMapKeys == nil:
	case override || m.out.ListMapKeys == nil:
		m.out.ListMapKeys = s.ListMapKeys
	default:
		m.left.ListMapKeys, m.right.ListMapKeys, m.out.ListMapKeys = m.out.ListMapKeys, s.ListMapKeys, nil
		m.conflict = true
	}
}

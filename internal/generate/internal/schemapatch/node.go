package schemapatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

// nodeOf is a schema as YAML, with the keys in the order in which the API's type
// declares its fields.
func nodeOf(s *schema.Schema, writing schema.Writing) *yaml.Node {
	b := builder{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, writing}
	b.texts(s)
	b.bounds(s)
	b.value("enum", s.Enum, len(s.Enum) > 0)
	b.value("maxProperties", s.MaxProperties, s.MaxProperties != nil)
	b.value("minProperties", s.MinProperties, s.MinProperties != nil)
	b.value("required", s.Required, len(s.Required) > 0)
	b.schemas(s)
	if d := s.ExternalDocs; d != nil {
		docs := builder{b.mapping("externalDocs"), writing}
		docs.value("description", d.Description, d.Description != "")
		docs.value("url", d.URL, d.URL != "")
	}
	b.value("example", s.Example, s.Example != nil)
	b.value("nullable", true, s.Nullable)
	b.extensions(s)
	return b.node
}

// builder fills a mapping.
type builder struct {
	node    *yaml.Node
	writing schema.Writing
}

func (b builder) texts(s *schema.Schema) {
	description := b.writing.Description(s.Description)
	b.value("description", description, description != "")
	b.value("type", s.Type, s.Type != "")
	b.value("format", s.Format, s.Format != "")
	b.value("title", s.Title, s.Title != "")
	b.value("default", s.Default, s.Default != nil)
}

func (b builder) bounds(s *schema.Schema) {
	b.value("maximum", s.Maximum, s.Maximum != nil)
	b.value("exclusiveMaximum", true, s.ExclusiveMaximum)
	b.value("minimum", s.Minimum, s.Minimum != nil)
	b.value("exclusiveMinimum", true, s.ExclusiveMinimum)
	b.value("maxLength", s.MaxLength, s.MaxLength != nil)
	b.value("minLength", s.MinLength, s.MinLength != nil)
	b.value("pattern", s.Pattern, s.Pattern != "")
	b.value("maxItems", s.MaxItems, s.MaxItems != nil)
	b.value("minItems", s.MinItems, s.MinItems != nil)
	b.value("uniqueItems", true, s.UniqueItems)
	b.value("multipleOf", s.MultipleOf, s.MultipleOf != nil)
}

// schemas adds the schemas within s.
func (b builder) schemas(s *schema.Schema) {
	if s.Items != nil {
		b.add("items", nodeOf(s.Items, b.writing))
	}
	b.list("allOf", s.AllOf)
	b.list("anyOf", s.AnyOf)
	if len(s.Properties) > 0 {
		properties := builder{b.mapping("properties"), b.writing}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			properties.add(name, nodeOf(s.Properties[name], b.writing))
		}
	}
	switch a := s.AdditionalProperties; {
	case a == nil:
	case a.Schema == nil:
		b.value("additionalProperties", true, true)
	default:
		b.add("additionalProperties", nodeOf(a.Schema, b.writing))
	}
}

func (b builder) list(key string, schemas []*schema.Schema) {
	if len(schemas) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, s := range schemas {
		list.Content = append(list.Content, nodeOf(s, b.writing))
	}
	b.add(key, list)
}

func (b builder) extensions(s *schema.Schema) {
	b.value("x-kubernetes-preserve-unknown-fields", true, s.PreserveUnknownFields)
	b.value("x-kubernetes-embedded-resource", true, s.EmbeddedResource)
	b.value("x-kubernetes-int-or-string", true, s.IntOrString)
	b.value("x-kubernetes-list-map-keys", s.ListMapKeys, len(s.ListMapKeys) > 0)
	b.value("x-kubernetes-list-type", s.ListType, s.ListType != "")
	b.value("x-kubernetes-map-type", s.MapType, s.MapType != "")
	if len(s.Validations) == 0 {
		return
	}
	rules := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, v := range s.Validations {
		rule := builder{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, b.writing}
		rule.value("rule", v.Rule, true)
		rule.value("message", v.Message, v.Message != "")
		rule.value("messageExpression", v.MessageExpression, v.MessageExpression != "")
		rule.value("reason", v.Reason, v.Reason != "")
		rule.value("fieldPath", v.FieldPath, v.FieldPath != "")
		rule.value("optionalOldSelf", v.OptionalOldSelf, v.OptionalOldSelf != nil)
		rules.Content = append(rules.Content, rule.node)
	}
	b.add("x-kubernetes-validations", rules)
}

func (b builder) add(key string, value *yaml.Node) {
	b.node.Content = append(b.node.Content, text(key), value)
}

func (b builder) mapping(key string) *yaml.Node {
	mapping := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	b.add(key, mapping)
	return mapping
}

// value adds a value as JSON has it, if it is there.
func (b builder) value(key string, value any, there bool) {
	if !there {
		return
	}
	if s, ok := value.(string); ok {
		b.add(key, text(s))
		return
	}
	b.add(key, fromJSON(value))
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// fromJSON is a value as YAML reads its JSON, in YAML's own style.
func fromJSON(value any) *yaml.Node {
	encoded, err := json.Marshal(value)
	var document yaml.Node
	if err == nil {
		err = yaml.Unmarshal(encoded, &document)
	}
	if err != nil {
		panic(fmt.Sprintf("schemapatch: %v: %v", value, err)) // schemas hold JSON only
	}
	plain(&document)
	return document.Content[0]
}

func plain(n *yaml.Node) {
	n.Style = 0
	for _, inner := range n.Content {
		plain(inner)
	}
}

package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
)

// Writing changes how schemas are written.
type Writing struct {
	// MaxDescription is the length that descriptions are cut down to, at the end
	// of a sentence if there is one. Nil leaves them as they are.
	MaxDescription *int
	// Anywhere cuts descriptions without a sentence that ends in the middle of a word.
	Anywhere bool
	// Memo serves properties that come again, as those of a type that is referred to
	// many times. It must not be used with other Writings.
	Memo *yaml.Memo[*Schema]
}

// Write writes s as a YAML map with its keys in order.
func (s *Schema) Write(w *yaml.Writer, options Writing) {
	p := printer{w, options}
	p.schema(s)
}

type printer struct {
	*yaml.Writer
	options Writing
}

func (p printer) schema(s *Schema) {
	p.BeginMap()
	if a := s.AdditionalProperties; a != nil {
		p.Key("additionalProperties")
		if a.Schema != nil {
			p.schema(a.Schema)
		} else {
			p.Bool(true)
		}
	}
	p.schemas("allOf", s.AllOf)
	p.schemas("anyOf", s.AnyOf)
	p.json("default", s.Default)
	p.text("description", p.options.Description(s.Description))
	p.jsons("enum", s.Enum)
	p.json("example", s.Example)
	p.flag("exclusiveMaximum", s.ExclusiveMaximum)
	p.flag("exclusiveMinimum", s.ExclusiveMinimum)
	if d := s.ExternalDocs; d != nil {
		p.Key("externalDocs")
		p.BeginMap()
		p.text("description", d.Description)
		p.text("url", d.URL)
		p.EndMap()
	}
	p.text("format", s.Format)
	if s.Items != nil {
		p.Key("items")
		p.schema(s.Items)
	}
	p.bounds(s)
	p.flag("nullable", s.Nullable)
	p.text("pattern", s.Pattern)
	p.properties(s)
	p.texts("required", s.Required)
	p.text("title", s.Title)
	p.text("type", s.Type)
	p.flag("uniqueItems", s.UniqueItems)
	p.extensions(s)
	p.EndMap()
}

func (p printer) bounds(s *Schema) {
	p.integer("maxItems", s.MaxItems)
	p.integer("maxLength", s.MaxLength)
	p.integer("maxProperties", s.MaxProperties)
	p.number("maximum", s.Maximum)
	p.integer("minItems", s.MinItems)
	p.integer("minLength", s.MinLength)
	p.integer("minProperties", s.MinProperties)
	p.number("minimum", s.Minimum)
	p.number("multipleOf", s.MultipleOf)
}

func (p printer) properties(s *Schema) {
	if len(s.Properties) == 0 {
		return
	}
	p.Key("properties")
	p.BeginMap()
	for _, name := range s.order {
		p.Key(name)
		property := s.Properties[name]
		p.options.Memo.Write(p.Writer, property, func() { p.schema(property) })
	}
	p.EndMap()
}

func (p printer) extensions(s *Schema) {
	p.flag("x-kubernetes-embedded-resource", s.EmbeddedResource)
	p.flag("x-kubernetes-int-or-string", s.IntOrString)
	p.texts("x-kubernetes-list-map-keys", s.ListMapKeys)
	p.text("x-kubernetes-list-type", s.ListType)
	p.text("x-kubernetes-map-type", s.MapType)
	p.flag("x-kubernetes-preserve-unknown-fields", s.PreserveUnknownFields)
	if len(s.Validations) == 0 {
		return
	}
	p.Key("x-kubernetes-validations")
	p.BeginSeq()
	for _, v := range s.Validations {
		p.BeginMap()
		p.text("fieldPath", v.FieldPath)
		p.text("message", v.Message)
		p.text("messageExpression", v.MessageExpression)
		if v.OptionalOldSelf != nil {
			p.Key("optionalOldSelf")
			p.Bool(*v.OptionalOldSelf)
		}
		p.text("reason", v.Reason)
		p.Key("rule")
		p.String(v.Rule)
		p.EndMap()
	}
	p.EndSeq()
}

func (p printer) schemas(key string, list []*Schema) {
	if len(list) == 0 {
		return
	}
	p.Key(key)
	p.BeginSeq()
	for _, s := range list {
		p.schema(s)
	}
	p.EndSeq()
}

func (p printer) text(key, text string) {
	if text != "" {
		p.Key(key)
		p.String(text)
	}
}

func (p printer) texts(key string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.Key(key)
	p.BeginSeq()
	for _, t := range texts {
		p.String(t)
	}
	p.EndSeq()
}

func (p printer) flag(key string, set bool) {
	if set {
		p.Key(key)
		p.Bool(true)
	}
}

func (p printer) integer(key string, i *int64) {
	if i != nil {
		p.Key(key)
		p.Int(*i)
	}
}

func (p printer) number(key string, f *float64) {
	if f == nil {
		return
	}
	p.Key(key)
	if *f == math.Trunc(*f) && math.Abs(*f) < 1e20 {
		p.Number(strconv.FormatFloat(*f, 'f', -1, 64))
		return
	}
	p.Number(strconv.FormatFloat(*f, 'g', -1, 64))
}

func (p printer) json(key string, text json.RawMessage) {
	if text != nil {
		p.Key(key)
		p.value(text)
	}
}

func (p printer) jsons(key string, texts []json.RawMessage) {
	if len(texts) == 0 {
		return
	}
	p.Key(key)
	p.BeginSeq()
	for _, t := range texts {
		p.value(t)
	}
	p.EndSeq()
}

// value writes JSON that this package made itself.
func (p printer) value(text json.RawMessage) {
	if err := p.JSON(text); err != nil {
		panic(fmt.Sprintf("schema: %s: %v", text, err))
	}
}

// Description is a description as long as it may be.
func (o Writing) Description(text string) string {
	limit := o.MaxDescription
	if limit == nil || *limit < 0 || len(text) <= *limit {
		return text
	}
	if *limit == 0 {
		return ""
	}
	text = text[:*limit]
	if n := strings.LastIndexFunc(text, func(r rune) bool { return unicode.Is(unicode.STerm, r) }); n > 0 {
		return text[:n+1]
	}
	if o.Anywhere {
		return text
	}
	if n := strings.LastIndexFunc(text, unicode.IsSpace); n > 0 {
		return text[:n] + "..."
	}
	return text + "..."
}

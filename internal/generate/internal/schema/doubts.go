package schema

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// Doubts are findings that are not fatal: code that this generator and its peers accept without a word, with a schema
// that its author can hardly mean. They change no schema. Only the user's own packages are doubted.

// doubt reports a doubt at pos, with what to write instead.
func (c context) doubt(rule report.Rule, pos token.Pos, suggestion, format string, args ...any) {
	c.doubtWith(report.Fix{}, rule, pos, suggestion, format, args...)
}

// doubtWith is doubt with a replacement that removes it, or none.
func (c context) doubtWith(fix report.Fix, rule report.Rule, pos token.Pos, suggestion, format string, args ...any) {
	if c.b.options.WithoutDoubts || !c.decl.Package.Local() {
		return
	}
	c.b.loader.Report(report.Finding{
		Rule:     rule,
		Position: c.decl.File.Position(pos), Message: fmt.Sprintf(format, args...), Suggestion: suggestion, Fix: fix,
	})
}

// tagFix replaces the name in the json tag of a field; there is none if the tag is not written as it is read.
func (b *structBuilder) tagFix(f *load.Field, name, replacement string) report.Fix {
	if f.Syntax.Tag == nil {
		return report.Fix{}
	}
	old := `json:"` + name
	at := strings.Index(f.Syntax.Tag.Value, old)
	if at < 0 {
		return report.Fix{}
	}
	begin := b.decl.File.Position(f.Syntax.Tag.Pos())
	begin.Column += at
	return report.Fix{Line: begin.Line, Column: begin.Column, EndColumn: begin.Column + len(old), Replaces: old, Replacement: `json:"` + replacement}
}

// doubtField doubts what a field says beside its type. Name is its name in JSON.
func (b *structBuilder) doubtField(f *load.Field, name string) {
	if f.Name != "" && !ast.IsExported(f.Name) {
		b.doubt(report.RuleUnexportedField, f.Syntax.Pos(), "export it, or use the option crd:ignoreUnexportedFields=true",
			"field %s is not exported: Go programs ignore it, but the schema has it as %q", f.Name, name)
	}
	if name == "omitempty" || name == "omitzero" || name == "inline" {
		b.doubt(report.RuleJSONTag, f.Syntax.Pos(), `write json:"NAME,`+name+`"`, "field %s is named %q in JSON: its tag lacks a comma", fieldName(f), name)
	}
	if fields := strings.Fields(name); len(fields) > 1 {
		split := strings.Join(fields, ",")
		b.doubtWith(b.tagFix(f, name, split), report.RuleJSONTag, f.Syntax.Pos(), `write json:"`+split+`"`, "field %s is named %q in JSON: its tag has a space where a comma belongs", fieldName(f), name)
	}
	b.doubtPresence(f)
}

// doubtInlined doubts a field that is inlined although Go programs give it a name.
func (b *structBuilder) doubtInlined(f *load.Field) {
	options := strings.Split(f.Tag.Get("json"), ",")
	if f.Name == "" || slices.Contains(options, "inline") {
		return
	}
	b.doubt(report.RuleJSONTag, f.Syntax.Pos(), "put a name before the comma of its json tag",
		"field %s has no name in its json tag: Go programs name it %q, but the schema has its fields in its place", f.Name, f.Name)
}

// doubtName doubts a field whose name in JSON another field of the struct has, too.
func (b *structBuilder) doubtName(f *load.Field, name string) {
	if other, taken := b.names[name]; taken {
		b.doubt(report.RuleDuplicateField, f.Syntax.Pos(), "give each field a different name",
			"fields %s and %s of %s are both named %q in JSON: Go programs leave out both", other, fieldName(f), b.decl.Name(), name)
	}
	b.names[name] = fieldName(f)
}

var (
	requiring  = []string{"kubebuilder:validation:Required", "required", "k8s:required"}
	permitting = []string{"kubebuilder:validation:Optional", "optional", "k8s:optional"}
)

// doubtPresence doubts a field that is both required and optional.
func (b *structBuilder) doubtPresence(f *load.Field) {
	one := firstOf(f.Markers, requiring)
	other := firstOf(f.Markers, permitting)
	if one == nil || other == nil {
		return
	}
	effect := "optional"
	if b.isRequired(f, false, false) {
		effect = "required"
	}
	b.doubt(report.RuleContradictoryMarkers, max(one.Pos, other.Pos), "delete one of them",
		"+%s and +%s contradict each other; the field is %s", one.Definition.Name, other.Definition.Name, effect)
}

func firstOf(values marker.Values, names []string) *marker.Value {
	for i := range values {
		if slices.Contains(names, values[i].Definition.Name) {
			return &values[i]
		}
	}
	return nil
}

// doubtSchema doubts a schema that values have just changed, at the marker that is to blame.
func (c context) doubtSchema(values marker.Values, s *Schema) {
	for i := range values {
		v := &values[i]
		target := s
		if strings.HasPrefix(v.Definition.Name, itemsPrefix) {
			target = s.Items
		}
		if target == nil {
			continue
		}
		switch v.Data.(type) {
		case intOrString:
			c.doubtIntOrString(v, target)
		case enum:
			c.doubtEnum(v, target)
		case maximum, maxLength, maxItems, maxProperties:
			c.doubtBounds(v, target)
		}
		c.keepBound(v, target)
	}
}

func (c context) doubtIntOrString(v *marker.Value, s *Schema) {
	if s.Type == "" {
		return
	}
	c.doubt(report.RuleIneffectiveMarker, v.Pos, "use a field of the type intstr.IntOrString",
		"+%s has no effect on a field of type %s: the API server takes only that type", v.Definition.Name, s.Type)
}

// doubtEnum doubts an enum of which no value has the field's type.
func (c context) doubtEnum(v *marker.Value, s *Schema) {
	types := typesOf(s)
	if len(s.Enum) == 0 || len(types) == 0 {
		return
	}
	for _, value := range s.Enum {
		if slices.Contains(types, typeOfJSON(value)) {
			return
		}
	}
	suggestion := ""
	if s.Type == "string" {
		suggestion = "put each value in quotes: +" + v.Definition.Name + "=" + quoted(s)
	}
	c.doubt(report.RuleImpossibleValue, v.Pos, suggestion, "+%s lists no value of type %s: the API server refuses every value", v.Definition.Name, s.Type)
}

func quoted(s *Schema) string {
	var values []string
	for _, v := range s.Enum {
		values = append(values, fmt.Sprintf("%q", v))
	}
	return strings.Join(values, ";")
}

// typesOf are the types of JSON values that s accepts, or none where that is not known.
func typesOf(s *Schema) []string {
	switch s.Type {
	case "string", "boolean", "integer":
		return []string{s.Type}
	case "number":
		return []string{"integer", "number"}
	}
	return nil
}

// typeOfJSON is the type of a JSON text, in the words of schemas.
func typeOfJSON(text []byte) string {
	switch text[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case '[':
		return "array"
	case '{':
		return "object"
	case 'n':
		return "null"
	}
	if strings.ContainsAny(string(text), ".eE") {
		return "number"
	}
	return "integer"
}

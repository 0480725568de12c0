package schema

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// structure is the schema of a struct. Inlined fields stand in its allOf.
func (c context) structure(e *ast.StructType) *Schema {
	s := &Schema{Type: "object", Properties: make(map[string]*Schema)}
	if !c.own || e != c.decl.Spec.Type {
		c.fail(e, "a struct inside a type has no schema; declare a type for it")
		return s
	}
	choices, err := choicesOf(c.decl.Markers())
	if err != nil {
		c.fail(e, "%v", err)
		return s
	}
	b := structBuilder{context: c, schema: s, choices: choices, names: make(map[string]string)}
	b.optional = c.decl.Package.Markers().Has("kubebuilder:validation:Optional")
	for _, f := range c.decl.Fields() {
		b.field(f)
	}
	b.doubtPromoted()
	if c.edition().SortedRequired {
		slices.Sort(s.Required)
	}
	b.keepImmutable()
	return s
}

type structBuilder struct {
	context
	schema    *Schema
	optional  bool     // fields are optional unless they say otherwise
	choices   []string // fields of which only some may be set
	immutable []string
	names     map[string]string // of the fields so far: in JSON → in Go
}

func (b *structBuilder) field(f *load.Field) {
	if f.Name != "" && b.b.options.IgnoreUnexportedFields && !ast.IsExported(f.Name) {
		return
	}
	tag, ok := f.Tag.Lookup("json")
	if !ok {
		b.fail(f.Syntax, "field %s of %s has no json tag", fieldName(f), b.decl.Name())
		return
	}
	if tag == "-" {
		return
	}
	name, inline, omitted := readTag(tag, b.edition().Optional...)
	b.doubtField(f, name)
	if b.isRequired(f, inline, omitted) {
		if slices.Contains(b.choices, name) {
			b.fail(f.Syntax, "field %s belongs to a union, so it cannot be required; add omitempty or +optional", name)
		}
		b.schema.Required = append(b.schema.Required, name)
	}
	s := &Schema{}
	if !f.Markers.Has("kubebuilder:validation:Schemaless") {
		s = b.inner().typ(f.Syntax.Type)
	}
	s.Description = f.Doc
	b.apply(f.Markers, s, f.Syntax.Pos())
	b.doubtMetadata(f, name, inline, s)
	if inline && s.Type != "" && s.Type != "object" {
		b.fail(f.Syntax, "field %s of type %s is inlined, but only structs can be inlined; put a name into its json tag", fieldName(f), s.Type)
		b.schema.Properties[fieldName(f)] = s // as if it had one: mistakes in the types that it leads to are reported, too
		return
	}
	if inline {
		b.doubtInlined(f)
		b.schema.AllOf = append(b.schema.AllOf, s)
		return
	}
	b.doubtName(f, name)
	if f.Markers.Has("k8s:immutable") {
		b.immutable = append(b.immutable, name)
	}
	b.schema.Properties[name] = s
}

func fieldName(f *load.Field) string {
	if f.Name != "" {
		return f.Name
	}
	switch t := f.Syntax.Type.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return "(embedded)"
}

// readTag reads a json tag, of which some options make the field optional. Fields without a name are inlined, as the
// serialisers of Kubernetes do.
func readTag(tag string, optional ...string) (name string, inline, omitted bool) {
	options := strings.Split(tag, ",")
	name = options[0]
	for _, option := range options[1:] {
		inline = inline || option == "inline"
		omitted = omitted || slices.Contains(optional, option)
	}
	return name, inline || name == "", omitted
}

// isRequired follows the first that says something: kubebuilder's markers,
// Kubernetes' markers, the package's default, the tag.
func (b *structBuilder) isRequired(f *load.Field, inline, omitted bool) bool {
	has := f.Markers.Has
	if !b.edition().RequiredWins {
		return b.optional && has("kubebuilder:validation:Required") ||
			!b.optional && !inline && !omitted && !has("kubebuilder:validation:Optional") && !has("optional")
	}
	switch {
	case has("kubebuilder:validation:Optional"):
		return false
	case has("kubebuilder:validation:Required"):
		return true
	case has("optional"), has("k8s:optional"):
		return false
	case has("required"), has("k8s:required"):
		return true
	}
	return !b.optional && !inline && !omitted
}

// keepImmutable forbids to clear optional immutable fields: the rule on the
// field itself is not evaluated when the field is gone.
func (b *structBuilder) keepImmutable() {
	for _, name := range b.immutable {
		if slices.Contains(b.schema.Required, name) {
			continue
		}
		b.schema.Validations = append(b.schema.Validations, Validation{
			Rule:    fmt.Sprintf("!has(oldSelf.%s) || has(self.%s)", name, name),
			Message: fmt.Sprintf("field %s is immutable once set", name),
		})
	}
}

// choicesOf are the fields that markers like ExactlyOneOf name.
func choicesOf(values marker.Values) ([]string, error) {
	var names []string
	for i := range values {
		choice, ok := values[i].Data.(interface{ fields() []string })
		if !ok {
			continue
		}
		for _, name := range choice.fields() {
			if strings.Contains(name, ".") {
				return nil, fmt.Errorf("+%s: %s is not a field of this type", values[i].Definition.Name, name)
			}
			names = append(names, name)
		}
	}
	return names, nil
}

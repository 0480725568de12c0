package schema_test

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

func TestRecursion(t *testing.T) {
	loader, p := loadTypes(t)
	builder := schema.NewBuilder(loader, schema.Options{})
	ring := p.Decl("Ring")
	flat := builder.Flat(ring)
	for path, want := range map[string]string{
		".properties[link].properties[ring].type":                      "Ring",
		".properties[link].properties[more].additionalProperties.type": "Ring",
		".properties[link].type":                                       "",
		".properties[name]":                                            "",
	} {
		if got := schema.Recursion(ring, flat, path); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
}

// TestUnbounded: what is around a rule multiplies its cost, and so does what it names below it.
func TestUnbounded(t *testing.T) {
	text := &schema.Schema{Type: "string"}
	short := &schema.Schema{Type: "string", MaxLength: new(int64(3))}
	part := &schema.Schema{
		Type: "object",
		Properties: map[string]*schema.Schema{
			"names": {Type: "array", Items: short},
			"other": {Type: "array", Items: text},
			"kinds": {Type: "array", Items: text, MaxItems: new(int64(3))},
		},
		Validations: []schema.Validation{{Rule: "self.names.all(n, self.kinds.exists(k, k == n))"}},
	}
	spec := &schema.Schema{Type: "object", Properties: map[string]*schema.Schema{
		"parts": {Type: "object", AdditionalProperties: &schema.Additional{Schema: part}},
	}}
	root := &schema.Schema{Type: "object", Properties: map[string]*schema.Schema{"spec": spec}}
	const at = ".properties[spec].properties[parts].additionalProperties.x-kubernetes-validations[0].rule"
	want := []string{"spec.parts", "spec.parts{}.kinds[]", "spec.parts{}.names"}
	if got := schema.Unbounded(root, at); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := schema.Unbounded(root, ".properties[nothing].items"); got != nil {
		t.Errorf("a place that does not exist: %q", got)
	}
}

package devloop

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestKeepsData: what cannot lose data of objects is told from what can.
func TestKeepsData(t *testing.T) {
	const was = `
group: sea.example.com
scope: Namespaced
names: {kind: Boat, plural: boats}
versions:
- name: v1
  served: true
  storage: true
  schema:
    openAPIV3Schema:
      type: object
      properties:
        spec:
          type: object
          required: [sail]
          properties:
            sail: {type: string, maxLength: 20, description: Of the mast.}
            type: {type: string}
            crew: {type: array, items: {type: string}}
            flags: {type: object, additionalProperties: {type: string}}
`
	for name, test := range map[string]struct {
		old, new string
		keeps    bool
	}{
		"nothing":                   {"", "", true},
		"a smaller maximum":         {"maxLength: 20", "maxLength: 10", true},
		"a further constraint":      {"maxLength: 20", "maxLength: 20, pattern: a", true},
		"no constraint":             {"maxLength: 20, ", "", true},
		"a new field":               {"crew: {", "keel: {type: string}\n            crew: {", true},
		"a field that is required":  {"required: [sail]", "required: [sail, crew]", true},
		"another text":              {"Of the mast.", "Of the boat.", true},
		"a field that goes":         {"            type: {type: string}\n", "", false},
		"a field's other type":      {"crew: {type: array, items: {type: string}}", "crew: {type: string}", false},
		"a type of items":           {"items: {type: string}", "items: {type: integer}", false},
		"a type of values":          {"additionalProperties: {type: string}", "additionalProperties: {type: integer}", false},
		"a field called type":       {"            type: {type: string}", "            type: {type: integer}", false},
		"unknown fields":            {"flags: {type: object,", "flags: {type: object, x-kubernetes-preserve-unknown-fields: true,", false},
		"another scope":             {"Namespaced", "Cluster", false},
		"a version that goes":       {"name: v1", "name: v2", false},
		"a version not served":      {"served: true", "served: false", false},
		"another version":           {"versions:\n", "versions:\n- {name: v2, served: true, storage: false}\n", false},
		"another storage version":   {"storage: true", "storage: false", false},
		"a list with another merge": {"crew: {type: array,", "crew: {type: array, x-kubernetes-list-type: set,", false},
	} {
		changed := was
		if test.old != "" {
			if changed = strings.Replace(was, test.old, test.new, 1); changed == was {
				t.Fatalf("%s: no such text", name)
			}
		}
		var before, after any
		if err := yaml.Unmarshal([]byte(was), &before); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(changed), &after); err != nil {
			t.Fatal(err)
		}
		if got := keepsData(before, after); got != test.keeps {
			t.Errorf("%s keeps data: %t", name, got)
		}
	}
}

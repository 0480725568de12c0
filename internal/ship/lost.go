package ship

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Lost returns the fields that objects lose from one version of a definition to another, as paths such as spec.foo,
// since the definition has no conversion and the API server drops what a version does not have. It is empty if a
// webhook converts the objects, or the versions have the same fields.
func Lost(definition *unstructured.Unstructured, from, to string) []string {
	if calls(definition) {
		return nil
	}
	return lostFields(schemaOf(definition, from), schemaOf(definition, to), "")
}

// LostBetweenVersions returns what [Lost] returns for the first two served versions between which objects lose fields,
// in either direction, with the names of these versions.
func LostBetweenVersions(definition *unstructured.Unstructured) (from, to string, fields []string) {
	served := servedResources(definition)
	for _, a := range served {
		for _, b := range served {
			if fields := Lost(definition, a.Version, b.Version); len(fields) > 0 {
				return a.Version, b.Version, fields
			}
		}
	}
	return "", "", nil
}

// schemaOf returns the schema of a version; nil for none.
func schemaOf(definition *unstructured.Unstructured, version string) map[string]any {
	schema, _, _ := unstructured.NestedFieldNoCopy(versionOf(definition, version), "schema", "openAPIV3Schema")
	found, _ := schema.(map[string]any)
	return found
}

// lostFields returns the fields of a schema that another one lacks. One that keeps unknown fields lacks none.
func lostFields(from, to map[string]any, at string) (lost []string) {
	if from == nil || to == nil || to["x-kubernetes-preserve-unknown-fields"] == true {
		return nil
	}
	had, _ := from["properties"].(map[string]any)
	has, _ := to["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(had)) {
		before, _ := had[name].(map[string]any)
		after, ok := has[name].(map[string]any)
		switch _, entries := to["additionalProperties"]; {
		case ok:
			lost = append(lost, lostFields(before, after, at+name+".")...)
		case !entries:
			lost = append(lost, at+name)
		}
	}
	for _, inside := range []string{"items", "additionalProperties"} {
		before, _ := from[inside].(map[string]any)
		after, _ := to[inside].(map[string]any)
		lost = append(lost, lostFields(before, after, at)...)
	}
	return lost
}

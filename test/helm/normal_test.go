package helm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An object is one of the API, as JSON has it.
type object = map[string]any

// normalized returns objects by what identifies them, without what charts have on purpose otherwise than
// a kustomization:
//
//   - the labels app.kubernetes.io/managed-by, /instance and /version and helm.sh/chart, and the
//     instance in labels and selectors of pods;
//   - the annotation helm.sh/resource-policy of CRDs;
//   - the Namespace of the operator, which a chart does not bring.
func normalized(objects []object, namespace string) map[string]object {
	all := map[string]object{}
	for _, o := range objects {
		metadata, _ := o["metadata"].(map[string]any)
		if o["kind"] == "Namespace" && metadata["name"] == namespace {
			continue
		}
		strip(o)
		all[fmt.Sprint(o["apiVersion"], " ", o["kind"], " ", metadata["namespace"], "/", metadata["name"])] = o
	}
	return all
}

// conventional are the keys that Helm's conventions bring.
var conventional = []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart", "helm.sh/resource-policy"}

// strip takes what is conventional out of a value, and maps that are empty without it.
func strip(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(value)) {
			inner, isMap := value[key].(map[string]any)
			if isMap && slices.Contains([]string{"labels", "annotations", "matchLabels", "selector"}, key) {
				maps.DeleteFunc(inner, func(k string, _ any) bool { return slices.Contains(conventional, k) })
				if len(inner) == 0 {
					delete(value, key)
					continue
				}
			}
			strip(value[key])
		}
	case []any:
		for _, inner := range value {
			strip(inner)
		}
	}
}

// releaseAt is how a release is called and where it is.
type releaseAt struct{ name, namespace string }

// prefix is what the names of a chart's objects begin with, before "-".
func (r releaseAt) prefix(chart string) string {
	if strings.Contains(r.name, chart) {
		return r.name
	}
	return r.name + "-" + chart
}

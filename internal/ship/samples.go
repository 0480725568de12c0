package ship

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// isSample reports whether `kubectl apply` made an object of one of the set's samples. A name alone is no proof: a
// repository chooses the names of its samples, and others may have objects of the same ones.
func (c *Cluster) isSample(object *unstructured.Unstructured, set *Set) bool {
	var applied map[string]any
	if json.Unmarshal([]byte(object.GetAnnotations()[corev1.LastAppliedConfigAnnotation]), &applied) != nil {
		return false
	}
	return slices.ContainsFunc(set.Samples, func(sample *unstructured.Unstructured) bool {
		return kindOf(sample) == kindOf(object) && sample.GetName() == object.GetName() &&
			slices.Contains([]string{"", cmp.Or(sample.GetNamespace(), c.namespace)}, object.GetNamespace()) && sameContent(sample.Object, applied)
	})
}

// sameContent reports whether two manifests differ at most in metadata.
func sameContent(one, other map[string]any) bool {
	content := func(manifest map[string]any) (fields map[string]any) {
		text, err := json.Marshal(manifest)
		if err != nil || json.Unmarshal(text, &fields) != nil { // numbers of one type
			return nil
		}
		delete(fields, "metadata")
		return fields
	}
	return reflect.DeepEqual(content(one), content(other))
}

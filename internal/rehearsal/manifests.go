package rehearsal

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A manifest is an object that a user may create: a sample, or one without one of its fields, since what is left out
// shows what is filled in.
type manifest struct {
	object  *unstructured.Unstructured
	without string          // path of the field that was left out; "" for a sample as it is
	made    map[string]any  // what the old revision makes of it
	varies  map[string]bool // fields that it makes by chance, by path
}

func (m manifest) say() string {
	if m.without == "" {
		return "the same manifest"
	}
	return "the same manifest without it"
}

const (
	// mostVariants bounds the manifests that are made of a sample.
	mostVariants = 100
	// deepest is how deep fields lie that are left out: in spec.a.b.c.
	deepest = 4
)

// manifestsOf are a sample and its variants.
func manifestsOf(sample *unstructured.Unstructured) []manifest {
	all := []manifest{{object: sample}}
	for _, path := range fieldsOf(sample.Object, nil) {
		if len(all) > mostVariants {
			break
		}
		variant := sample.DeepCopy()
		unstructured.RemoveNestedField(variant.Object, path...)
		without := ""
		for _, name := range path {
			without = join(without, name)
		}
		all = append(all, manifest{object: variant, without: without})
	}
	return all
}

// fieldsOf are the paths of the fields of an object that its users choose, the outer ones first.
func fieldsOf(object map[string]any, at []string) (paths [][]string) {
	if len(at) >= deepest {
		return nil
	}
	for _, name := range sortedKeys(object) {
		if len(at) == 0 && slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			continue
		}
		path := append(slices.Clone(at), name)
		paths = append(paths, path)
		if inner, ok := object[name].(map[string]any); ok {
			paths = append(paths, fieldsOf(inner, path)...)
		}
	}
	return paths
}

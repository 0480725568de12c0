package proving

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/ship"
)

// errNoChange says that no change of a sample is known that its definition allows.
var errNoChange = errors.New("no field of the sample is known to be changeable")

// A candidate is a field with another value.
type candidate struct {
	path  []string
	value any
	rank  int // the lower the better
}

// changeFor is a patch of a sample that the server takes: another value for a field that the sample has. Numbers come
// first, since most are sizes; then what a list of values or the type allows.
func changeFor(ctx context.Context, cluster *ship.Cluster, sample *unstructured.Unstructured, definitions []*unstructured.Unstructured) (map[string]any, error) {
	definition, names := definitionOf(sample, definitions)
	if definition == nil {
		return nil, errNoChange
	}
	spec, _ := sample.Object["spec"].(map[string]any)
	var all []candidate
	collect(&all, []string{"spec"}, spec, definition)
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.rank, b.rank), slices.Compare(a.path, b.path)) })
	client := cluster.Client().Resource(sample.GroupVersionKind().GroupVersion().WithResource(names.resource))
	for _, c := range all {
		changed := sample.DeepCopy()
		if unstructured.SetNestedField(changed.Object, c.value, c.path...) != nil {
			continue
		}
		var err error
		if names.namespaced {
			_, err = client.Namespace(cmp.Or(sample.GetNamespace(), metav1.NamespaceDefault)).Create(ctx, changed, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		} else {
			_, err = client.Create(ctx, changed, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		}
		if err != nil {
			continue // the definition forbids it
		}
		patch := identity(sample)
		return patch, unstructured.SetNestedField(patch, c.value, c.path...)
	}
	return nil, errNoChange
}

// place is where the objects of a definition are.
type place struct {
	resource   string
	namespaced bool
}

// definitionOf is the schema of an object's spec; nil if none of the definitions is of its kind.
func definitionOf(o *unstructured.Unstructured, definitions []*unstructured.Unstructured) (spec map[string]any, at place) {
	kind := o.GroupVersionKind()
	for _, d := range definitions {
		group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
		if (schema.GroupKind{Group: group, Kind: name}) != kind.GroupKind() {
			continue
		}
		at.resource, _, _ = unstructured.NestedString(d.Object, "spec", "names", "plural")
		scope, _, _ := unstructured.NestedString(d.Object, "spec", "scope")
		at.namespaced = scope == "Namespaced"
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		for _, v := range versions {
			if fields, _ := v.(map[string]any); fields["name"] == kind.Version {
				spec, _, _ = unstructured.NestedMap(fields, "schema", "openAPIV3Schema", "properties", "spec")
			}
		}
	}
	return spec, at
}

// collect finds the fields of an object that may have another value by their schema. Lists are left alone.
func collect(all *[]candidate, path []string, value any, of map[string]any) {
	add := func(other any, rank int) { *all = append(*all, candidate{slices.Clone(path), other, rank}) }
	if others, _ := of["enum"].([]any); len(others) > 0 {
		for _, other := range others {
			if !reflect.DeepEqual(other, value) {
				add(other, 1)
			}
		}
		return
	}
	switch v := value.(type) {
	case map[string]any:
		fields, _ := of["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if next, ok := fields[name].(map[string]any); ok {
				collect(all, append(path, name), v[name], next)
			}
		}
	case int64:
		least := v // a webhook may raise what the definition does not allow
		switch minimum := of["minimum"].(type) {
		case int64:
			least = max(v, minimum)
		case float64:
			least = max(v, int64(minimum))
		}
		add(least+1, 0)
		add(v-1, 0)
	case bool:
		add(!v, 2)
	}
}

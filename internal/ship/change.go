package ship

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// changes tells whether object, when it was applied, changed what the cluster had. A status that a controller writes in
// the same moment does not count; what else somebody changes then does, for it cannot be told from ours.
func changes(object, before, after *unstructured.Unstructured, manager string) bool {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return false
	}
	return !reflect.DeepEqual(ours(object, before, manager), ours(object, after, manager))
}

// ours is what applying may change of a live object: what it holds, and what manager owns of that.
func ours(object, live *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	held := withoutStatus(object, live)
	held.SetResourceVersion("")
	held.SetGeneration(0) // that of some kinds counts writes of the status, too
	fields := slices.DeleteFunc(held.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager != manager })
	for i := range fields {
		fields[i].Time = nil
	}
	held.SetManagedFields(fields)
	return held
}

// withoutStatus is a live object without its status, unless object has one: controllers write that at any time.
func withoutStatus(object, live *unstructured.Unstructured) *unstructured.Unstructured {
	live = live.DeepCopy()
	if _, has := object.Object["status"]; !has {
		unstructured.RemoveNestedField(live.Object, "status")
	}
	return live
}

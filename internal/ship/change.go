package ship

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// changes tells whether object, when it was applied, changed what the cluster had. Of a change in the same moment by somebody
// else it may know: the resource version has moved on by then, but neither what the object holds nor who owns what of it.
func changes(object, before, after *unstructured.Unstructured) bool {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return false
	}
	return !reflect.DeepEqual(ours(object, before), ours(object, after))
}

// ours is what applying may change of a live object: what it holds, and what we own of that.
func ours(object, live *unstructured.Unstructured) *unstructured.Unstructured {
	held := settled(object, live)
	held.SetResourceVersion("")
	fields := slices.DeleteFunc(held.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager != FieldManager })
	for i := range fields {
		fields[i].Time = nil
	}
	held.SetManagedFields(fields)
	return held
}

// settled is a live object without its status, unless object has one: controllers write that at any time.
func settled(object, live *unstructured.Unstructured) *unstructured.Unstructured {
	live = live.DeepCopy()
	if _, has := object.Object["status"]; !has {
		unstructured.RemoveNestedField(live.Object, "status")
	}
	return live
}

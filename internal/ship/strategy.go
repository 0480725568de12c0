package ship

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/slipway-dev/slipway/internal/report"
)

// recreateStrategy is the patch that takes away what the server has filled in for rollouts.
const recreateStrategy = `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`

// recreates tells whether a Deployment that was rolled out is to be recreated from now on. What the server has filled
// in for rollouts is nobody's, so that it would stay when that is applied, and be refused.
func recreates(before, wanted *unstructured.Unstructured) bool {
	if before == nil || kindOf(wanted) != deploymentKind {
		return false
	}
	_, rolled, _ := unstructured.NestedMap(before.Object, "spec", "strategy", "rollingUpdate")
	strategy, _, _ := unstructured.NestedMap(wanted.Object, "spec", "strategy")
	return rolled && strategy["type"] == "Recreate" && strategy["rollingUpdate"] == nil
}

// rollsForAnother reports whether someone else has set how a Deployment is rolled out: to change that is a conflict.
func (a *application) rollsForAnother(live *unstructured.Unstructured) bool {
	strategy := fieldpath.MakePathOrDie("spec", "strategy")
	return !a.force && slices.ContainsFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		if entry.Manager == a.manager() || a.earlier(entry) {
			return false
		}
		fields, err := fieldSet(entry)
		return err != nil || !fields.WithPrefix(strategy[0]).WithPrefix(strategy[1]).Empty()
	})
}

// recreate changes the strategy of a Deployment to that. It stops and starts no pod.
func (a *application) recreate(ctx context.Context, resource dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	return resource.Patch(ctx, name, types.MergePatchType, []byte(recreateStrategy), metav1.PatchOptions{FieldManager: a.manager()})
}

// judgeRecreated has the server judge a Deployment that is to be recreated. It refuses the strategy as long as what it
// has filled in is there, so that it is judged without.
func (a *application) judgeRecreated(ctx context.Context, resource dynamic.ResourceInterface, object, before *unstructured.Unstructured) (outcome, error) {
	strategy, _, _ := unstructured.NestedMap(object.Object, "spec", "strategy")
	object, why := a.claim(object, before, a.force)
	object = object.DeepCopy()
	unstructured.RemoveNestedField(object.Object, "spec", "strategy")
	after, taken, err := a.take(ctx, resource, object, before, why == "")
	if err != nil {
		return outcome{}, err
	}
	a.note(before, after, why == "")
	err = unstructured.SetNestedMap(after.Object, strategy, "spec", "strategy")
	return outcome{before, after, report.Updated, because(why, taken)}, err
}

package ship

import (
	"context"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// previewLeft tells of left-overs that go.
func (i *inventory) previewLeft(objects []*unstructured.Unstructured) (all []Difference) {
	for _, object := range slices.Concat(departures(objects)...) {
		all = append(all, Difference{Name: nameOf(object), Action: report.Deleted, Why: whyLeft, Diff: string(diff.Diff("live/"+nameOf(object), readable(object), "/dev/null", nil))})
	}
	return all
}

// previewRest tells of left-overs that others may use, and of the inventory itself.
func (i *inventory) previewRest(ctx context.Context) (all []Difference) {
	for _, object := range i.leftShared() {
		all = append(all, Difference{Name: nameOf(object), Action: report.Kept, Why: whyLeftShared})
	}
	if i.set == nil || i.set.DefinitionsOnly {
		return all
	}
	now := i.now(ctx, i.leftShared())
	d := Difference{Name: nameOf(now.parentOf(i.set)), Action: i.parentAction(now)}
	if d.Action != report.Unchanged {
		d.Diff = string(diff.Diff("live/"+d.Name, annotationsOf(i.parent), "new/"+d.Name, annotationsOf(now.parentOf(i.set))))
	}
	return append(all, d)
}

// annotationsOf are those of an inventory, as YAML; they are all that changes in one.
func annotationsOf(parent *unstructured.Unstructured) []byte {
	if parent == nil {
		return nil
	}
	short := &unstructured.Unstructured{Object: map[string]any{}}
	short.SetAnnotations(parent.GetAnnotations())
	return readable(short)
}

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
		all = append(all, Difference{Name: nameOf(object), Object: refOf(object), Action: report.Deleted, Why: whyLeft, Diff: string(diff.Diff("live/"+nameOf(object), readable(object), "/dev/null", nil))})
	}
	return all
}

// previewRest reports left-overs that are kept, and the inventory itself.
func (i *inventory) previewRest(ctx context.Context) (all []Difference) {
	for _, left := range i.staying() {
		all = append(all, Difference{Name: nameOf(left.Unstructured), Object: refOf(left.Unstructured), Action: report.Kept, Why: left.why()})
	}
	if i.set == nil || i.set.DefinitionsOnly {
		return all
	}
	now := i.now(ctx)
	d := Difference{Name: nameOf(now.parentOf(i.set)), Object: refOf(now.parentOf(i.set)), Action: i.parentAction(now)}
	if d.Action != report.Unchanged {
		d.Diff = string(diff.Diff("live/"+d.Name, contentOf(i.parent), "new/"+d.Name, contentOf(now.parentOf(i.set))))
	}
	return append(all, d)
}

// contentOf is all that changes in an inventory, as YAML.
func contentOf(parent *unstructured.Unstructured) []byte {
	if parent == nil {
		return nil
	}
	short := &unstructured.Unstructured{Object: map[string]any{}}
	short.SetAnnotations(parent.GetAnnotations())
	if data, found := parent.Object["data"]; found {
		short.Object["data"] = data
	}
	return readable(short)
}

package ship

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Difference is what [Cluster.Apply] would make of an object.
type Difference struct {
	Name   string        `json:"name"`
	Action report.Action `json:"action"`
	Why    string        `json:"why,omitempty"`
	Diff   string        `json:"diff,omitempty"` // unified, of the objects as YAML
}

// Preview tells what [Cluster.Apply] would do, in its order. The server judges each object as
// it would then, but stores nothing; one whose namespace or kind comes with the others
// cannot be judged, and Why says so.
func (c *Cluster) Preview(ctx context.Context, objects []*unstructured.Unstructured, o ApplyOptions) ([]Difference, error) {
	if err := c.Ping(ctx); err != nil {
		return nil, err
	}
	if err := c.requireKinds(ctx, objects); err != nil {
		return nil, err
	}
	var all []Difference
	for _, object := range InInstallOrder(objects) {
		difference, err := c.preview(ctx, object, objects, o.Force)
		if err != nil {
			return nil, c.explainObject(ctx, object, err)
		}
		all = append(all, difference)
	}
	return all, nil
}

// preview has the server judge one object.
func (c *Cluster) preview(ctx context.Context, object *unstructured.Unstructured, all []*unstructured.Unstructured, force bool) (Difference, error) {
	resource, object, err := c.locate(ctx, object, 0)
	if _, unserved := errors.AsType[errNoKind](err); unserved || errors.Is(err, errImpatient) {
		return created(object, "not judged: its kind comes with it"), nil
	}
	if err != nil {
		return Difference{}, err
	}
	before, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		before, err = nil, nil
	}
	if err != nil {
		return Difference{}, err
	}
	patch, err := json.Marshal(object)
	if err != nil {
		return Difference{}, err
	}
	force = force || before != nil && slices.ContainsFunc(before.GetManagedFields(), isClientSide)
	after, err := resource.Patch(ctx, object.GetName(), types.ApplyPatchType, patch, metav1.PatchOptions{
		FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict, Force: &force, DryRun: []string{metav1.DryRunAll},
	})
	if apierrors.IsNotFound(err) && before == nil && brings(all, object.GetNamespace()) {
		return created(object, "not judged: its namespace comes with it"), nil
	}
	if err != nil {
		return Difference{}, err
	}
	if before != nil {
		before, after = withoutStatus(object, before), withoutStatus(object, after)
	}
	return compare(before, after), nil
}

// PreviewDelete tells what [Cluster.Delete] would do, in its order. Of a definition Why says how many objects of its
// kind would go with it.
func (c *Cluster) PreviewDelete(ctx context.Context, objects []*unstructured.Unstructured) ([]Difference, error) {
	if err := c.Ping(ctx); err != nil {
		return nil, err
	}
	var all []Difference
	for _, object := range slices.Concat(departures(objects)...) {
		difference, err := c.previewDelete(ctx, object)
		if err != nil {
			return nil, c.explainObject(ctx, object, err)
		}
		all = append(all, difference)
	}
	return all, nil
}

// previewDelete looks whether one object is there.
func (c *Cluster) previewDelete(ctx context.Context, object *unstructured.Unstructured) (Difference, error) {
	absent := Difference{Name: nameOf(object), Action: report.Unchanged, Why: "is not there"}
	resource, object, err := c.locate(ctx, object, 0)
	if _, unserved := errors.AsType[errNoKind](err); unserved || errors.Is(err, errImpatient) {
		return absent, nil
	}
	if err != nil {
		return Difference{}, err
	}
	live, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return absent, nil
	}
	if err != nil {
		return Difference{}, err
	}
	d := Difference{Name: nameOf(object), Action: report.Deleted}
	if kindOf(object) != crdKind {
		return d, nil
	}
	d.Why, err = c.instances(ctx, live)
	return d, err
}

// instances counts the objects of a definition, in words.
func (c *Cluster) instances(ctx context.Context, definition *unstructured.Unstructured) (string, error) {
	served := servedResources(definition)
	if len(served) == 0 {
		return "", nil
	}
	list, err := c.objects.Resource(served[0]).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	switch n := len(list.Items); n {
	case 0:
		return "with no objects", nil
	case 1:
		return "with its one object, " + nameOf(&list.Items[0]), nil
	default:
		return fmt.Sprintf("with its %d objects", n), nil
	}
}

// created is the difference of an object that nobody compared with anything.
func created(object *unstructured.Unstructured, why string) Difference {
	return Difference{Name: nameOf(object), Action: report.Created, Why: why, Diff: string(diff.Diff("/dev/null", nil, nameOf(object), readable(object)))}
}

// compare is the difference of two states of an object, of which the first may be nil.
func compare(before, after *unstructured.Unstructured) Difference {
	if before == nil {
		return created(after, "")
	}
	d := Difference{Name: nameOf(after), Action: report.Unchanged}
	if d.Diff = string(diff.Diff("live/"+d.Name, readable(before), "new/"+d.Name, readable(after))); d.Diff != "" {
		d.Action = report.Updated
	}
	return d
}

// readable is object as YAML without what the server keeps for itself.
func readable(object *unstructured.Unstructured) []byte {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	for _, own := range []string{"resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(object.Object, "metadata", own)
	}
	text, err := yaml.Marshal(object.Object)
	if err != nil { // it came as JSON
		panic(err)
	}
	return text
}

// brings tells whether one of objects is the namespace of that name.
func brings(objects []*unstructured.Unstructured, namespace string) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "Namespace" && kindOf(o).Group == "" && o.GetName() == namespace
	})
}

// isClientSide tells whether an entry of the managed fields is `kubectl apply`'s.
func isClientSide(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == clientSide }

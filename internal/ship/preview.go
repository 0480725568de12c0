package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Difference is what [Cluster.Apply] would make of an object.
type Difference struct {
	Name   string            `json:"name"` // for people
	Action report.Action     `json:"action"`
	Why    string            `json:"why,omitempty"`
	Diff   string            `json:"diff,omitempty"` // unified, of the objects as YAML
	Object *report.ObjectRef `json:"object"`
}

// Preview reports what [Cluster.Apply] would do, in its order. The server judges each object as
// it would then, but stores nothing; one whose namespace or kind comes with the others
// cannot be judged, and Why says so. Consent is to answer as the user would: it asks none.
func (c *Cluster) Preview(ctx context.Context, objects []*unstructured.Unstructured, o ApplyOptions) ([]Difference, error) {
	if err := c.Ping(ctx); err != nil {
		return nil, err
	}
	if err := c.requireKinds(ctx, objects); err != nil {
		return nil, err
	}
	set := o.Set.inNamespace(c.namespace)
	if err := c.requireNamespaces(ctx, objects, set); err != nil {
		return nil, err
	}
	a := &application{cluster: c, membership: membership{set: set}, force: o.Force, dry: true}
	inventory, err := a.takeInventory(ctx, objects)
	if err != nil {
		return nil, err
	}
	if err := inventory.agree(ctx, o.Consent); err != nil {
		return nil, err
	}
	all := inventory.previewLeft(inventory.hooks())
	for _, object := range InInstallOrder(objects) {
		difference, err := a.preview(ctx, object, objects)
		if err != nil {
			return nil, c.explainObject(ctx, object, err)
		}
		all = append(all, difference)
	}
	all = append(all, inventory.previewLeft(inventory.going())...)
	return append(all, inventory.previewRest(ctx)...), nil
}

// preview has the server judge one object.
func (a *application) preview(ctx context.Context, object *unstructured.Unstructured, all []*unstructured.Unstructured) (Difference, error) {
	resource, object, err := a.cluster.locate(ctx, object, 0)
	if _, unserved := errors.AsType[errNoKind](err); unserved || errors.Is(err, errImpatient) {
		return a.created(object, "not checked: its kind is new"), nil
	}
	if err != nil {
		return Difference{}, err
	}
	if kindOf(object) == crdKind {
		if live, err := existing(ctx, resource, object.GetName()); err == nil {
			a.cluster.noteGoing(object, live)
		}
		if difference, err := a.restoring(ctx, resource, object); difference != nil || err != nil {
			return *cmp.Or(difference, &Difference{}), err
		}
	}
	done, err := a.apply(ctx, resource, object)
	if apierrors.IsNotFound(err) && brings(all, object.GetNamespace()) {
		return a.created(object, "not checked: its namespace is new"), nil
	}
	if unjudged, beside := errors.AsType[*unjudgedError](err); beside {
		return Difference{Name: nameOf(object), Object: refOf(object), Action: report.Updated, Why: "not checked: fields of an earlier way to apply go first, which contradict it: " + unjudged.Error()}, nil
	}
	if err != nil {
		return Difference{}, err
	}
	if done.before != nil {
		done.before, done.after = withoutStatus(object, done.before), withoutStatus(object, done.after)
	}
	difference := compare(done.before, done.after)
	difference.Why = done.why
	return difference, nil
}

// created is the difference of an object that comes with what would judge it.
func (a *application) created(object *unstructured.Unstructured, why string) Difference {
	object, _ = a.claim(object, nil, false)
	return created(object, why)
}

// PreviewDelete reports what [Cluster.Delete] would do, in its order. A definition's Why says how many objects of its
// kind would go with it.
func (c *Cluster) PreviewDelete(ctx context.Context, objects []*unstructured.Unstructured, o DeleteOptions) ([]Difference, error) {
	if err := c.Ping(ctx); err != nil {
		return nil, err
	}
	if o.Set != nil {
		return c.previewRemoval(ctx, objects, o.Set)
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
	absent := Difference{Name: nameOf(object), Object: refOf(object), Action: report.Unchanged, Why: "does not exist"}
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
	d := Difference{Name: nameOf(object), Object: refOf(object), Action: report.Deleted}
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
	if apierrors.IsNotFound(err) { // it is being deleted, and its last object has just gone
		return "with no objects", nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "with " + unknownObjects(err), nil
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
	return Difference{Name: nameOf(object), Object: refOf(object), Action: report.Created, Why: why, Diff: string(diff.Diff("/dev/null", nil, nameOf(object), readable(object)))}
}

// compare is the difference of two states of an object, of which the first may be nil.
func compare(before, after *unstructured.Unstructured) Difference {
	if before == nil {
		return created(after, "")
	}
	d := Difference{Name: nameOf(after), Object: refOf(after), Action: report.Unchanged}
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

package ship

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// removal is what becomes of a set, and of the objects that were its manifests last.
type removal struct {
	going  []*unstructured.Unstructured // as the cluster has them
	left   []*unstructured.Unstructured // of these, those that are not in the manifests
	kept   []*unstructured.Unstructured // in the manifests, and not ours
	absent []*unstructured.Unstructured // in the manifests, and not there
	uses   []string                     // who uses what goes
	parent *unstructured.Unstructured   // the inventory; nil if there is none
	unseen []schema.GroupKind           // of what the inventory lists, the kinds that the user may not list
}

// whyNotOurs is why an object of the manifests stays.
const whyNotOurs = "it is not part of this deployment"

// planRemoval looks what of a set is there.
func (c *Cluster) planRemoval(ctx context.Context, objects []*unstructured.Unstructured, set *Set) (*removal, error) {
	r := &removal{}
	var err error
	if r.parent, err = c.liveParent(ctx, set); err != nil {
		return nil, err
	}
	for _, object := range objects {
		live, err := c.found(ctx, object)
		switch {
		case err != nil:
			return nil, c.explainObject(ctx, object, err)
		case live == nil:
			r.absent = append(r.absent, object)
		case set.has(live):
			r.going = append(r.going, live)
		default:
			r.kept = append(r.kept, live)
		}
	}
	all := newScope()
	all.addParent(r.parent)
	all.add(r.going...)
	members, unseen, err := c.members(ctx, set, all)
	if err != nil {
		return nil, err
	}
	r.unseen = unseen
	r.left = slices.DeleteFunc(members, func(m *unstructured.Unstructured) bool { return contains(r.going, m) })
	r.going = append(r.going, r.left...)
	r.uses, err = c.uses(ctx, set, r.going)
	return r, err
}

// found is an object as the cluster has it; nil if it is not there, or if its kind is not served.
func (c *Cluster) found(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, object, err := c.locate(ctx, object, 0)
	if _, unserved := errors.AsType[errNoKind](err); unserved || errors.Is(err, errImpatient) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return existing(ctx, resource, object.GetName())
}

// why says of an object that goes why it is not in the manifests.
func (r *removal) why(object *unstructured.Unstructured) string {
	if contains(r.left, object) {
		return whyLeft
	}
	return ""
}

// remove deletes the members of a set. It begins only if the user agrees that things which others use go too.
func (c *Cluster) remove(ctx context.Context, objects []*unstructured.Unstructured, o DeleteOptions) error {
	set := o.Set.inNamespace(c.namespace)
	r, err := c.planRemoval(ctx, objects, set)
	if err != nil {
		return err
	}
	if agreed, err := r.agreed(ctx, o.Consent); err != nil || !agreed {
		return err
	}
	for _, object := range r.absent {
		c.handler.Handle(report.Object{Name: nameOf(object), Action: report.Unchanged, Why: "did not exist"})
	}
	for _, object := range r.kept {
		c.handler.Handle(report.Object{Name: nameOf(object), Action: report.Kept, Why: whyNotOurs})
	}
	for _, group := range departures(r.going) {
		left, usual := filter(group, func(o *unstructured.Unstructured) bool { return r.why(o) != "" }), filter(group, func(o *unstructured.Unstructured) bool { return r.why(o) == "" })
		if err := errors.Join(c.deleteAll(ctx, usual, patienceOf(o.Timeout), ""), c.deleteAll(ctx, left, patienceOf(o.Timeout), whyLeft)); err != nil {
			return err
		}
	}
	return c.dropParent(ctx, r, set)
}

// agreed tells whether what others use may go.
func (r *removal) agreed(ctx context.Context, consent Consent) (bool, error) {
	if len(r.uses) == 0 || consent == nil {
		return true, nil
	}
	return consent(ctx, "this deletes objects that others use:\n  "+strings.Join(r.uses, "\n  ")+"\nDelete all of it? [y/n]")
}

// whyUnseen is why an inventory stays.
const whyUnseen = "its inventory has kinds that the user of the kubeconfig may not list"

// dropParent removes the inventory when nothing is left that it lists.
func (c *Cluster) dropParent(ctx context.Context, r *removal, set *Set) error {
	parent := r.parent
	if parent == nil || set.DefinitionsOnly {
		return nil
	}
	if len(r.unseen) > 0 {
		c.handler.Handle(report.Object{Name: nameOf(parent), Action: report.Kept, Why: whyUnseen})
		return nil
	}
	resource, _, err := c.locate(ctx, parent, 0)
	if err != nil {
		return c.explainObject(ctx, parent, err)
	}
	uid := parent.GetUID()
	err = resource.Delete(ctx, parent.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) { // it went with its namespace
		return nil
	}
	if err == nil {
		c.handler.Handle(report.Object{Name: nameOf(parent), Action: report.Deleted})
	}
	return c.explainObject(ctx, parent, err)
}

// previewRemoval tells what remove would do.
func (c *Cluster) previewRemoval(ctx context.Context, objects []*unstructured.Unstructured, given *Set) (all []Difference, err error) {
	set := given.inNamespace(c.namespace)
	r, err := c.planRemoval(ctx, objects, set)
	if err != nil {
		return nil, err
	}
	for _, object := range r.absent {
		all = append(all, Difference{Name: nameOf(object), Action: report.Unchanged, Why: "does not exist"})
	}
	for _, object := range r.kept {
		all = append(all, Difference{Name: nameOf(object), Action: report.Kept, Why: whyNotOurs})
	}
	for _, object := range slices.Concat(departures(r.going)...) {
		d := Difference{Name: nameOf(object), Action: report.Deleted, Why: r.why(object)}
		if kindOf(object) == crdKind && d.Why == "" {
			if d.Why, err = c.instances(ctx, object); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(r.uses, func(line string) bool { return strings.HasPrefix(line, nameOf(object)+" ") }) {
			d.Why = because(d.Why, "others use it, so undeploy asks first")
		}
		all = append(all, d)
	}
	switch {
	case r.parent == nil || set.DefinitionsOnly:
	case len(r.unseen) > 0:
		all = append(all, Difference{Name: nameOf(r.parent), Action: report.Kept, Why: whyUnseen})
	default:
		all = append(all, Difference{Name: nameOf(r.parent), Action: report.Deleted})
	}
	return all, nil
}

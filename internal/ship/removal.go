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
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/report"
)

// removal is what becomes of a set, and of the objects that were its manifests last.
type removal struct {
	owner  membership
	going  []*unstructured.Unstructured // as the cluster has them
	left   []*unstructured.Unstructured // of these, those that are not in the manifests
	data   []*unstructured.Unstructured // of these, those that may hold data that the manifests do not have
	kept   []keptObject
	absent []*unstructured.Unstructured // in the manifests, and not there
	uses   []string                     // who uses what goes
	parent *unstructured.Unstructured   // the inventory; nil if there is none
	unseen []schema.GroupKind           // of what the inventory lists, the kinds that the user may not list
}

// A keptObject is one that stays whatever the user agrees to.
type keptObject struct {
	*unstructured.Unstructured
	why    string
	member bool // it stays in the inventory
}

// whyNotOurs is why an object of the manifests stays.
const whyNotOurs = "it is not part of this deployment"

// planRemoval looks what of a set is there.
func (c *Cluster) planRemoval(ctx context.Context, objects []*unstructured.Unstructured, set *Set) (*removal, error) {
	c.handler.Handle(report.Step{Name: "looking for what is to be deleted, and who uses it"})
	r := &removal{}
	var err error
	if r.parent, err = c.liveParent(ctx, set); err != nil {
		return nil, err
	}
	r.owner = membership{set, rosterOf(r.parent)}
	for _, object := range objects {
		live, err := c.found(ctx, object)
		switch {
		case err != nil:
			return nil, c.explainObject(ctx, object, err)
		case live == nil:
			r.absent = append(r.absent, object)
		case !r.owner.has(live):
			r.kept = append(r.kept, keptObject{live, whyNotOurs, false})
		default:
			r.plan(live)
		}
	}
	if err := c.planLeft(ctx, r); err != nil {
		return nil, err
	}
	r.keepAround()
	if err := c.findData(ctx, r, len(objects) == 0); err != nil {
		return nil, err
	}
	r.uses, err = c.uses(ctx, r.owner, r.going)
	return r, err
}

// findData looks for what may hold data that no manifests bring back. Without manifests, as for an add-on, all members
// count as theirs. What others have in namespaces and definitions is uses.
func (c *Cluster) findData(ctx context.Context, r *removal, whole bool) (err error) {
	for _, object := range r.going {
		lost := storesData(object)
		if !whole && contains(r.left, object) && !isShared(object) {
			if lost, err = c.holdsData(ctx, object); err != nil {
				return c.explainObject(ctx, object, err)
			}
		}
		if lost {
			r.data = append(r.data, object)
		}
	}
	return nil
}

// plan has a member go, unless the user marked it to be kept.
func (r *removal) plan(live *unstructured.Unstructured) {
	if mark := keepMark(live); mark != "" {
		r.kept = append(r.kept, keptObject{live, "marked with " + mark, true})
		return
	}
	r.going = append(r.going, live)
}

// planLeft looks for objects with the set's label that are not in the manifests.
func (c *Cluster) planLeft(ctx context.Context, r *removal) (err error) {
	all := newScope()
	all.addParent(r.parent)
	all.add(r.going...)
	planned := slices.Clone(r.going)
	for _, kept := range r.kept {
		planned = append(planned, kept.Unstructured)
	}
	labelled, unseen, err := c.members(ctx, r.owner.set, all)
	if err != nil {
		return err
	}
	r.unseen = unseen
	for _, live := range labelled {
		switch why := r.owner.whyKept(live); {
		case contains(planned, live):
		case why != "":
			r.kept = append(r.kept, keptObject{live, why, r.owner.has(live)})
		default:
			r.left = append(r.left, live)
		}
	}
	r.going = append(r.going, r.left...)
	return nil
}

// keepAround keeps the namespaces and definitions of members that are kept. Objects of others are not kept in what
// goes: these are uses of it.
func (r *removal) keepAround() {
	var members []*unstructured.Unstructured
	for _, kept := range r.kept {
		if kept.member {
			members = append(members, kept.Unstructured)
		}
	}
	r.going = slices.DeleteFunc(r.going, func(o *unstructured.Unstructured) bool {
		inner := firstWithin(o, members)
		if inner != nil {
			r.kept = append(r.kept, keptObject{o, nameOf(inner) + " would be deleted with it", true})
		}
		return inner != nil
	})
	r.kept = slices.DeleteFunc(r.kept, func(k keptObject) bool {
		return !k.member && slices.ContainsFunc(r.going, func(o *unstructured.Unstructured) bool { return isWithin(k.Unstructured, o) })
	})
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
		c.handler.Handle(report.Object{Name: nameOf(object), Object: refOf(object), Action: report.Unchanged, Why: "did not exist"})
	}
	for _, object := range r.kept {
		c.handler.Handle(report.Object{Name: nameOf(object.Unstructured), Object: refOf(object.Unstructured), Action: report.Kept, Why: object.why})
	}
	for _, group := range departures(r.going) {
		left, usual := filter(group, func(o *unstructured.Unstructured) bool { return r.why(o) != "" }), filter(group, func(o *unstructured.Unstructured) bool { return r.why(o) == "" })
		if err := errors.Join(c.deleteAll(ctx, usual, patienceOf(o.Timeout), ""), c.deleteAll(ctx, left, patienceOf(o.Timeout), whyLeft)); err != nil {
			return err
		}
	}
	return c.dropParent(ctx, r)
}

// agreed reports whether what others use or created may go, and what may hold data.
func (r *removal) agreed(ctx context.Context, consent Consent) (bool, error) {
	var lines []string
	if len(r.uses) > 0 {
		lines = append(lines, "this deletes objects that others use:\n  "+strings.Join(r.uses, "\n  "))
	}
	if len(r.data) > 0 {
		lines = append(lines, "this deletes objects that may hold data:")
	}
	for _, object := range r.data {
		lines = append(lines, "  "+nameOf(object))
	}
	if adopted := filter(r.going, isAdopted); len(adopted) > 0 {
		lines = append(lines, "this deletes objects that other tools created before this deployment:")
		for _, object := range adopted {
			lines = append(lines, "  "+nameOf(object))
		}
	}
	if len(lines) == 0 || consent == nil {
		return true, nil
	}
	return consent(ctx, strings.Join(append(lines, "Delete all of it? [y/n]"), "\n"))
}

// Why an inventory stays.
const (
	whyUnseen = "its inventory has kinds that the user of the kubeconfig may not list"
	whyLists  = "it lists objects that are kept"
)

// keptParent is why the inventory stays; empty if nothing is left that it lists.
func (r *removal) keptParent() string {
	switch {
	case len(r.unseen) > 0:
		return whyUnseen
	case slices.ContainsFunc(r.kept, func(k keptObject) bool { return k.member }):
		return whyLists
	}
	return ""
}

// dropParent removes the inventory when nothing is left that it lists.
func (c *Cluster) dropParent(ctx context.Context, r *removal) error {
	parent := r.parent
	if parent == nil || r.owner.set.DefinitionsOnly {
		return nil
	}
	resource, _, err := c.locate(ctx, parent, 0)
	if err != nil {
		return c.explainObject(ctx, parent, err)
	}
	if why := r.keptParent(); why != "" {
		return c.explainObject(ctx, parent, c.keepParent(ctx, r, resource, why))
	}
	uid := parent.GetUID()
	err = resource.Delete(ctx, parent.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) { // it went with its namespace
		return nil
	}
	if err == nil {
		c.handler.Handle(report.Object{Name: nameOf(parent), Object: refOf(parent), Action: report.Deleted})
	}
	return c.explainObject(ctx, parent, err)
}

// keepParent has the inventory list what is kept alone, unless kinds are unseen. It may have gone with its namespace.
func (c *Cluster) keepParent(ctx context.Context, r *removal, resource dynamic.ResourceInterface, why string) error {
	live, err := existing(ctx, resource, r.parent.GetName())
	if err != nil || live == nil {
		return err
	}
	if why == whyLists {
		now := newScope()
		for _, kept := range r.kept {
			if kept.member {
				now.add(kept.Unstructured)
				now.members.add(kept.Unstructured)
			}
		}
		a := &application{cluster: c, membership: r.owner}
		if _, err := a.patch(ctx, resource, now.parentOf(r.owner.set), patching{force: true}); err != nil {
			return err
		}
	}
	c.handler.Handle(report.Object{Name: nameOf(r.parent), Object: refOf(r.parent), Action: report.Kept, Why: why})
	return nil
}

// promptsFirst is what follows from why a removal needs consent.
const promptsFirst = ", so a prompt comes first"

// previewRemoval tells what remove would do.
func (c *Cluster) previewRemoval(ctx context.Context, objects []*unstructured.Unstructured, given *Set) (all []Difference, err error) {
	set := given.inNamespace(c.namespace)
	r, err := c.planRemoval(ctx, objects, set)
	if err != nil {
		return nil, err
	}
	for _, object := range r.absent {
		all = append(all, Difference{Name: nameOf(object), Object: refOf(object), Action: report.Unchanged, Why: "does not exist"})
	}
	for _, object := range r.kept {
		all = append(all, Difference{Name: nameOf(object.Unstructured), Object: refOf(object.Unstructured), Action: report.Kept, Why: object.why})
	}
	for _, object := range slices.Concat(departures(r.going)...) {
		d := Difference{Name: nameOf(object), Object: refOf(object), Action: report.Deleted, Why: r.why(object)}
		if kindOf(object) == crdKind && d.Why == "" {
			if d.Why, err = c.instances(ctx, object); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(r.uses, func(line string) bool { return strings.HasPrefix(line, nameOf(object)+" ") }) {
			d.Why = because(d.Why, "others use it"+promptsFirst)
		}
		if contains(r.data, object) {
			d.Why = because(d.Why, "it may hold data"+promptsFirst)
		}
		if isAdopted(object) {
			d.Why = because(d.Why, "another tool created it"+promptsFirst)
		}
		all = append(all, d)
	}
	switch why := r.keptParent(); {
	case r.parent == nil || set.DefinitionsOnly:
	case why != "":
		all = append(all, Difference{Name: nameOf(r.parent), Object: refOf(r.parent), Action: report.Kept, Why: why})
	default:
		all = append(all, Difference{Name: nameOf(r.parent), Object: refOf(r.parent), Action: report.Deleted})
	}
	return all, nil
}

package ship

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// inventory is what one run of [Cluster.Apply] knows and says of a set.
type inventory struct {
	*application
	parent  *unstructured.Unstructured   // as it was before; nil if there was none
	stored  *unstructured.Unstructured   // as it is by now
	space   bool                         // the parent's namespace comes with the objects
	written bool                         // the parent covers all that is and comes
	all     scope                        // of what was and what comes
	coming  []*unstructured.Unstructured // the objects, with their namespaces
	left    []leftover                   // members that the objects do not have any more
	agreed  bool                         // left-overs go although they may hold data
	unseen  []schema.GroupKind           // of the set's kinds, those that the user may not list
}

// takeInventory looks what the set has, and what of that the objects do not have any more.
func (a *application) takeInventory(ctx context.Context, objects []*unstructured.Unstructured) (*inventory, error) {
	i := &inventory{application: a, all: newScope()}
	if a.set == nil {
		return i, nil
	}
	a.cluster.handler.Handle(report.Step{Name: "comparing with what the cluster has"})
	var err error
	if i.parent, err = a.cluster.liveParent(ctx, a.set); err != nil {
		return nil, err
	}
	i.stored, i.listed = i.parent, rosterOf(i.parent)
	i.space = brings(objects, a.set.Namespace)
	i.coming = a.cluster.placed(ctx, objects)
	i.all.addParent(i.parent)
	i.all.add(i.coming...)
	members, unseen, err := a.cluster.members(ctx, a.set, i.all)
	if err != nil {
		return nil, err
	}
	i.unseen = unseen
	if i.left, err = i.judge(ctx, slices.DeleteFunc(members, func(m *unstructured.Unstructured) bool { return contains(i.coming, m) })); err != nil {
		return nil, err
	}
	for _, left := range i.left {
		if left.member {
			i.all.members.add(left.Unstructured)
		}
	}
	return i, i.announce(ctx)
}

// announce names members that come, without UIDs as long as these are unknown: if the run ends early, the next one
// finds them. What an inventory does not list and is another's is not named.
func (i *inventory) announce(ctx context.Context) error {
	for _, object := range i.coming {
		if _, listed := i.all.members[identityOf(object)]; listed {
			continue
		}
		if i.listed != nil {
			live, err := i.cluster.found(ctx, object)
			if err != nil {
				return i.cluster.explainObject(ctx, object, err)
			}
			if i.notOurs(object, live) != "" {
				continue
			}
		}
		i.all.members[identityOf(object)] = ""
	}
	return nil
}

// placed are objects with their namespaces filled in, as far as their kinds are served.
func (c *Cluster) placed(ctx context.Context, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	placed := slices.Clone(objects)
	for i, object := range placed {
		if _, located, err := c.locate(ctx, object, 0); err == nil {
			placed[i] = located
		}
	}
	return placed
}

// contains tells whether one of objects is the same as another, in whatever version.
func contains(objects []*unstructured.Unstructured, other *unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		return kindOf(o) == kindOf(other) && o.GetName() == other.GetName() && o.GetNamespace() == other.GetNamespace()
	})
}

// open removes webhooks that are left over: their operator may answer no more, and they would have what comes refused.
// Then it writes down what will be there before the first object is, so that nothing is forgotten if the run ends
// early.
func (i *inventory) open(ctx context.Context) error {
	if i.set == nil {
		return nil
	}
	if hooks := i.hooks(); len(hooks) > 0 {
		if err := i.delete(ctx, hooks); err != nil {
			return err
		}
		i.unhooked, i.settled = true, time.Now().Add(settling)
	}
	return i.awaitParent(ctx)
}

// filter are those of objects that are wanted.
func filter(objects []*unstructured.Unstructured, wanted func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !wanted(o) })
}

// keepsParent reports whether the run writes the parent. One for definitions alone has no namespace for a new one, and
// adds to none that lists no objects: the others would be missing in it.
func (i *inventory) keepsParent() bool {
	return i.set != nil && (!i.set.DefinitionsOnly || i.listed != nil)
}

// awaitParent writes the parent, once its namespace is there.
func (i *inventory) awaitParent(ctx context.Context) error {
	if !i.keepsParent() || i.written {
		return nil
	}
	err := i.write(ctx, i.all)
	if i.space && (apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)) {
		return nil // it comes with a later shipment
	}
	i.written = err == nil
	return i.cluster.explainObject(ctx, i.set.parent(nil, nil), err)
}

// write has the parent cover a scope.
func (i *inventory) write(ctx context.Context, s scope) error {
	parent := s.parentOf(i.set)
	if sameInventory(i.stored, parent) {
		return nil
	}
	resource, parent, err := i.cluster.locate(ctx, parent, 0)
	if err != nil {
		return err
	}
	stored, err := i.patch(ctx, resource, parent, patching{force: true})
	if err == nil {
		i.stored = stored
	}
	return err
}

// close removes what is left over, and writes down what is there.
func (i *inventory) close(ctx context.Context, consent Consent) error {
	if i.set == nil {
		return nil
	}
	if err := i.agree(ctx, consent); err != nil {
		return err
	}
	if err := i.delete(ctx, i.going()); err != nil {
		return err
	}
	for _, left := range i.staying() {
		i.cluster.handler.Handle(report.Object{Name: nameOf(left.Unstructured), Object: refOf(left.Unstructured), Action: report.Kept, Why: left.why()})
	}
	if !i.keepsParent() {
		return nil
	}
	now := i.now(ctx)
	if err := i.write(ctx, now); err != nil {
		return i.cluster.explainObject(ctx, i.set.parent(nil, nil), err)
	}
	if i.set.DefinitionsOnly {
		return nil
	}
	i.cluster.handler.Handle(report.Object{Name: nameOf(now.parentOf(i.set)), Object: refOf(now.parentOf(i.set)), Action: i.parentAction(now)})
	return nil
}

// now is the scope when the left-overs are gone, apart from those that are kept. Kinds that this user may not list
// stay, with the namespaces: another user may be to find what is left of them. A run for definitions alone changes the
// scope by these alone.
func (i *inventory) now(ctx context.Context) scope {
	now := newScope()
	if i.set.DefinitionsOnly {
		now.addParent(i.parent)
	}
	now.namespaces[i.set.Namespace] = true
	if len(i.unseen) > 0 {
		maps.Copy(now.namespaces, i.all.namespaces)
	}
	for _, kind := range i.unseen {
		now.kinds[kind] = true
	}
	for id, uid := range i.listed {
		if slices.Contains(i.unseen, id.kind) {
			now.members[id] = uid
		}
	}
	i.addNow(now, i.cluster.placed(ctx, i.coming))
	return now
}

// addNow adds to a scope what comes and what is kept, and takes from its list what is gone or no member.
func (i *inventory) addNow(now scope, coming []*unstructured.Unstructured) {
	now.add(coming...)
	for _, left := range i.left {
		delete(now.members, identityOf(left.Unstructured))
	}
	for _, left := range i.staying() {
		now.add(left.Unstructured)
		if left.member {
			now.members.add(left.Unstructured)
		}
	}
	for _, object := range coming {
		now.members[identityOf(object)] = i.members[identityOf(object)]
	}
	for _, object := range i.others {
		delete(now.members, identityOf(object))
	}
}

// parentAction is what the run does to the parent, all in all.
func (i *inventory) parentAction(now scope) report.Action {
	switch {
	case i.parent == nil:
		return report.Created
	case sameInventory(i.parent, now.parentOf(i.set)):
		return report.Unchanged
	}
	return report.Updated
}

// members lists the set's members of the scope's kinds in its namespaces. Kinds that are not served have none. Those
// that the user may not list, and those that the server cannot read since nothing converts them, are reported, left out
// and returned as unseen: a deployment may be what lets them be read again.
func (c *Cluster) members(ctx context.Context, set *Set, s scope) (members []*unstructured.Unstructured, unseen []schema.GroupKind, err error) {
	for _, kind := range sortedKinds(s.kinds) {
		if set.DefinitionsOnly && kind != crdKind {
			continue
		}
		found, err := c.membersOf(ctx, set, kind, s.namespaces)
		if apierrors.IsForbidden(err) {
			c.handler.Handle(report.Warning{Text: "the user of the kubeconfig may not list objects of kind " + kind.String() + ": those of earlier deployments are not deleted"})
			unseen = append(unseen, kind)
			continue
		}
		if apierrors.IsInternalError(err) && ctx.Err() == nil {
			c.handler.Handle(report.Warning{Text: "the API server cannot read objects of kind " + kind.String() + ", so those of earlier deployments are not deleted: " + err.Error()})
			unseen = append(unseen, kind)
			continue
		}
		if err != nil {
			return nil, nil, c.explain(ctx, err)
		}
		members = append(members, found...)
	}
	return members, unseen, nil
}

// membersOf lists members of one kind.
func (c *Cluster) membersOf(ctx context.Context, set *Set, kind schema.GroupKind, namespaces map[string]bool) (members []*unstructured.Unstructured, err error) {
	gv, found, err := c.catalog.preferred(ctx, kind)
	if _, unserved := errors.AsType[errNoKind](err); unserved {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	where := []string{""}
	if found.Namespaced {
		where = slices.Sorted(maps.Keys(namespaces))
	}
	for _, namespace := range where {
		list, err := c.objects.Resource(gv.WithResource(found.Name)).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: partOfLabel + "=" + set.id()})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			if metav1.GetControllerOf(&item) == nil { // controllers copy labels to what they make
				members = append(members, &item)
			}
		}
	}
	return members, nil
}

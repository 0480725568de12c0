package ship

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
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
	space   bool                         // the parent's namespace comes with the objects
	written bool                         // the parent covers all that is and comes
	all     scope                        // of what was and what comes
	coming  []*unstructured.Unstructured // the objects, with their namespaces
	left    []*unstructured.Unstructured // members that the objects do not have any more
	unseen  []schema.GroupKind           // of the set's kinds, those that the user may not list
}

// whyLeft is why a member is deleted.
const whyLeft = "left from an earlier deployment"

// takeInventory looks what the set has, and what of that the objects do not have any more.
func (a *application) takeInventory(ctx context.Context, objects []*unstructured.Unstructured) (*inventory, error) {
	i := &inventory{application: a, all: newScope()}
	if a.set == nil {
		return i, nil
	}
	var err error
	if i.parent, err = a.cluster.liveParent(ctx, a.set); err != nil {
		return nil, err
	}
	i.space = brings(objects, a.set.Namespace)
	i.coming = a.cluster.placed(ctx, objects)
	i.all.addParent(i.parent)
	i.all.add(i.coming...)
	members, unseen, err := a.cluster.members(ctx, a.set, i.all)
	if err != nil {
		return nil, err
	}
	i.unseen = unseen
	i.left = slices.DeleteFunc(members, func(m *unstructured.Unstructured) bool { return contains(i.coming, m) })
	return i, nil
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
	if hooks := i.leftHooks(); len(hooks) > 0 {
		if err := i.delete(ctx, hooks); err != nil {
			return err
		}
		i.unhooked, i.settled = true, time.Now().Add(settling)
	}
	return i.awaitParent(ctx)
}

// leftHooks are the left-overs that go first.
func (i *inventory) leftHooks() []*unstructured.Unstructured { return filter(i.left, isHook) }

// leftObjects are the left-overs that go without a question, last.
func (i *inventory) leftObjects() []*unstructured.Unstructured {
	return filter(i.left, func(o *unstructured.Unstructured) bool { return !isHook(o) && !isShared(o) })
}

// leftShared are the left-overs that others may use.
func (i *inventory) leftShared() []*unstructured.Unstructured { return filter(i.left, isShared) }

// filter are those of objects that are wanted.
func filter(objects []*unstructured.Unstructured, wanted func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !wanted(o) })
}

// isHook tells webhook configurations.
func isHook(object *unstructured.Unstructured) bool {
	return kindOf(object).Group == "admissionregistration.k8s.io"
}

// isShared tells objects that others may have things in: namespaces and definitions.
func isShared(object *unstructured.Unstructured) bool {
	return kindOf(object) == crdKind || kindOf(object) == namespaceKind
}

// awaitParent writes the parent, once its namespace is there.
func (i *inventory) awaitParent(ctx context.Context) error {
	if i.set == nil || i.set.DefinitionsOnly || i.written {
		return nil
	}
	if i.written = i.parentAction(i.all) == report.Unchanged; i.written {
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
	resource, parent, err := i.cluster.locate(ctx, parent, 0)
	if err != nil {
		return err
	}
	_, err = i.patch(ctx, resource, parent, patching{force: true})
	return err
}

// close removes what is left over, and writes down what is there.
func (i *inventory) close(ctx context.Context, consent Consent) error {
	if i.set == nil {
		return nil
	}
	if err := i.delete(ctx, i.leftObjects()); err != nil {
		return err
	}
	kept, err := i.deleteShared(ctx, consent)
	if err != nil || i.set.DefinitionsOnly {
		return err
	}
	now := i.now(ctx, kept)
	if !i.written || !maps.Equal(now.kinds, i.all.kinds) || !maps.Equal(now.namespaces, i.all.namespaces) {
		if err := i.write(ctx, now); err != nil {
			return i.cluster.explainObject(ctx, i.set.parent(nil, nil), err)
		}
	}
	i.cluster.handler.Handle(report.Object{Name: nameOf(now.parentOf(i.set)), Action: i.parentAction(now)})
	return nil
}

// now is the scope when the left-overs are gone, apart from those that are kept. Kinds that this user may not list
// stay, with the namespaces: another user may be to find what is left of them.
func (i *inventory) now(ctx context.Context, kept []*unstructured.Unstructured) scope {
	now := newScope()
	now.namespaces[i.set.Namespace] = true
	now.add(i.cluster.placed(ctx, i.coming)...)
	now.add(kept...)
	if len(i.unseen) > 0 {
		maps.Copy(now.namespaces, i.all.namespaces)
	}
	for _, kind := range i.unseen {
		now.kinds[kind] = true
	}
	return now
}

// parentAction is what the run does to the parent, all in all.
func (i *inventory) parentAction(now scope) report.Action {
	wanted := now.parentOf(i.set)
	if i.parent == nil {
		return report.Created
	}
	for name, value := range wanted.GetAnnotations() {
		if i.parent.GetAnnotations()[name] != value {
			return report.Updated
		}
	}
	return report.Unchanged
}

// delete removes left-overs.
func (i *inventory) delete(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, group := range departures(objects) {
		if err := i.cluster.deleteAll(ctx, group, i.patience, whyLeft); err != nil {
			return err
		}
	}
	return nil
}

// deleteShared removes left-over namespaces and definitions if the user wants that, and returns those that stay.
func (i *inventory) deleteShared(ctx context.Context, consent Consent) (kept []*unstructured.Unstructured, err error) {
	shared := i.leftShared()
	if len(shared) == 0 {
		return nil, nil
	}
	yes := false
	if consent != nil {
		if yes, err = consent(ctx, i.cluster.question(ctx, shared)); err != nil {
			return nil, err
		}
	}
	if yes {
		return nil, i.delete(ctx, shared)
	}
	for _, object := range shared {
		i.cluster.handler.Handle(report.Object{Name: nameOf(object), Action: report.Kept, Why: whyLeftShared})
	}
	return shared, nil
}

// whyLeftShared is why a left-over stays.
const whyLeftShared = whyLeft + "; others may use it, so only --yes deletes it"

// question asks whether to delete what others may use.
func (c *Cluster) question(ctx context.Context, shared []*unstructured.Unstructured) string {
	lines := []string{"Deleting these deletes everything in them:"}
	for _, object := range shared {
		line := "  " + nameOf(object)
		if kindOf(object) == crdKind {
			if n, err := c.instances(ctx, object); err == nil && n != "" {
				line += " " + n
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, "Delete them? [y/n]"), "\n")
}

// members lists the set's members of the scope's kinds in its namespaces. Kinds that are not served have none; those
// that the user may not list are reported, left out, and returned as unseen.
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

// sortedKinds are kinds in the order of their names.
func sortedKinds(kinds map[schema.GroupKind]bool) []schema.GroupKind {
	return slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
}

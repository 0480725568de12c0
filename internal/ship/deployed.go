package ship

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/slipway-dev/slipway/internal/report"
)

// The functions of this file read what a deployment has put into a cluster. They write nothing there.

// Inventory is the name of the object that lists the set's members.
func (s *Set) Inventory() string { return s.parentName() }

// Placed returns the set in each namespace in which the cluster has its inventory: in the set's own or, if that is
// empty, in any. Others are slipway's inventories of other sets there, as NAMESPACE/NAME.
func (c *Cluster) Placed(ctx context.Context, set Set) (placed []*Set, others []string, err error) {
	list, err := c.objects.Resource(configMapResource).Namespace(set.Namespace).List(ctx, metav1.ListOptions{LabelSelector: setLabel})
	if err != nil {
		return nil, nil, c.explainObject(ctx, set.parent(nil, nil), err)
	}
	for _, inventory := range list.Items {
		at := set
		at.Namespace = inventory.GetNamespace()
		by, _, _ := strings.Cut(inventory.GetAnnotations()[toolingAnnotation], "/")
		switch {
		case by != tool:
		case inventory.GetName() == set.parentName() && inventory.GetLabels()[setLabel] == at.id():
			placed = append(placed, &at)
		default:
			others = append(others, inventory.GetNamespace()+"/"+inventory.GetName())
		}
	}
	return placed, others, nil
}

// Deployed returns the members of a set as they were applied, by the set's deployments and then by users of kubectl.
// What controllers and defaults have added is left out. Of Secrets it returns what deployments have set alone: other
// values are not the configuration's, such as credentials, and certificates that a controller issues again. Namespaces
// that were there before the deployment come without content.
func (c *Cluster) Deployed(ctx context.Context, set *Set) (objects []*unstructured.Unstructured, err error) {
	members, err := c.Members(ctx, set)
	if err != nil {
		return nil, err
	}
	for _, live := range members {
		object, err := c.asApplied(ctx, set, live)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return append(objects, missingNamespaces(objects)...), nil
}

// Members returns the members of a set as the cluster has them.
func (c *Cluster) Members(ctx context.Context, set *Set) (all []*unstructured.Unstructured, err error) {
	parent, err := c.liveParent(ctx, set)
	if err != nil {
		return nil, err
	}
	within, owner := newScope(), membership{set, rosterOf(parent)}
	within.addParent(parent)
	for _, kind := range sortedKinds(within.kinds) {
		members, err := c.membersOf(ctx, set, kind, within.namespaces)
		if err != nil {
			return nil, c.explainObject(ctx, parent, fmt.Errorf("list objects of kind %s: %w", kind, err))
		}
		all = append(all, slices.DeleteFunc(members, func(m *unstructured.Unstructured) bool { return !owner.has(m) })...)
	}
	return all, nil
}

// missingNamespaces are the namespaces of objects that are not among them.
func missingNamespaces(objects []*unstructured.Unstructured) (missing []*unstructured.Unstructured) {
	for _, object := range objects {
		if name := object.GetNamespace(); name != "" && !brings(slices.Concat(objects, missing), name) {
			namespace := &unstructured.Unstructured{}
			namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(namespaceKind.Kind))
			namespace.SetName(name)
			missing = append(missing, namespace)
		}
	}
	return missing
}

// marks are the fields that make an object a member, or that `kubectl apply` keeps for itself.
var marks = fieldpath.NewSet(labelPath, fieldpath.MakePathOrDie("metadata", "annotations", adoptedAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation))

// asApplied is a member of a set without the fields that others have set. It is in the version in which it was applied:
// the names of fields may differ in others.
func (c *Cluster) asApplied(ctx context.Context, set *Set, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	entries := live.GetManagedFields()
	at := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return isSets(e, set) })
	switch {
	case slices.ContainsFunc(entries, isCallHere):
		return nil, &report.Error{Class: report.Conflict, What: "slipway dev has changed this object for its own time", Where: nameOf(live), Object: refOf(live), Hint: "end that run first; deploy restores what a killed run has left", Next: "slipway deploy"}
	case at < 0:
		return nil, &report.Error{Class: report.Conflict, What: "it is not known which of its fields were deployed", Where: nameOf(live), Object: refOf(live), Hint: "its managedFields do not name this deployment: deploy again", Next: "slipway deploy"}
	}
	version := entries[at].APIVersion
	applied := &unstructured.Unstructured{Object: map[string]any{}}
	identify := func() {
		applied.SetAPIVersion(version)
		applied.SetKind(live.GetKind())
		applied.SetName(live.GetName())
		applied.SetNamespace(live.GetNamespace())
	}
	if identify(); live.GetAPIVersion() != version {
		var err error
		if live, err = c.live(ctx, applied); err != nil {
			return nil, c.explainObject(ctx, applied, err)
		}
	}
	fields, err := fieldsOwned(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.APIVersion == version && (isSets(e, set) || isUsers(e) && kindOf(live).Kind != "Secret")
	})
	if err != nil {
		return nil, err
	}
	applied.Object = onlyFields(live.Object, withData(fields).Difference(marks)).(map[string]any)
	identify()
	return applied, nil
}

// withData adds to the fields of a Secret where the API server keeps what stringData has set: managed fields name the
// latter alone.
func withData(fields *fieldpath.Set) *fieldpath.Set {
	all := fields.Copy()
	for p := range fields.All() {
		if name := p[0].FieldName; len(p) == 2 && name != nil && *name == "stringData" {
			all.Insert(fieldpath.Path{fieldpath.FieldNameElement("data"), p[1]})
		}
	}
	return all
}

// isSets reports whether an entry of managed fields is of a set's deployments.
func isSets(entry metav1.ManagedFieldsEntry, set *Set) bool {
	return entry.Subresource == "" && (entry.Manager == set.manager() || entry.Manager == FieldManager)
}

// isUsers reports whether an entry of managed fields is of a user of kubectl, such as kubectl-edit: what they changed
// is not the deployment's own any more.
func isUsers(entry metav1.ManagedFieldsEntry) bool {
	return entry.Subresource == "" && strings.HasPrefix(entry.Manager, "kubectl")
}

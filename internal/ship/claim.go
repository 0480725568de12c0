package ship

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// The field managers of `kubectl apply`: without --server-side, with it, and the one that then keeps the annotation of
// the former.
const (
	clientSide  = "kubectl-client-side-apply"
	serverSide  = "kubectl"
	lastApplied = "kubectl-last-applied"
)

// Why an object that is applied is no member of the set.
const (
	whyAnothers = "belongs to another deployment: undeploy keeps it"
	whyBefore   = "another tool created it: undeploy keeps it"
)

// labelPath is where members have the set's id.
var labelPath = fieldpath.MakePathOrDie("metadata", "labels", partOfLabel)

// A membership decides which objects of a cluster are a set's own.
type membership struct {
	set    *Set
	listed roster // by the inventory; nil if there is none, or one of a slipway that listed kinds alone
}

// claim is object as it is applied: a member of the set, unless the object that the cluster has, live, which may be
// nil, is not this deployment's. Then why says so, and only its fields are set.
func (o membership) claim(object, live *unstructured.Unstructured, force bool) (claimed *unstructured.Unstructured, why string) {
	if o.set == nil {
		return object, ""
	}
	if why = o.notOurs(live); why != "" && (!force || kindOf(object) == namespaceKind) {
		return object, why
	}
	claimed = object.DeepCopy()
	labels := claimed.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[partOfLabel] = o.set.id()
	claimed.SetLabels(labels)
	return claimed, ""
}

// notOurs is why an object that is to be applied is not this deployment's; empty if it is, or if there is none. A
// deployment takes over what an earlier slipway or `kubectl apply` brought, even if it has another UID than the listed
// object.
func (o membership) notOurs(live *unstructured.Unstructured) string {
	switch {
	case live == nil:
		return ""
	case !slices.Contains([]string{"", o.set.id()}, live.GetLabels()[partOfLabel]):
		return whyAnothers
	case o.has(live), o.labels(live), o.brought(live):
		return ""
	}
	return whyBefore
}

// brought reports whether an earlier slipway or `kubectl apply` made the object. Server-side apply also adds fields to
// objects of others, such as a label to a namespace: then it made the object if its entry is as old as the object, or
// if no other manager has written to it.
func (o membership) brought(live *unstructured.Unstructured) bool {
	entries := live.GetManagedFields()
	made := live.GetCreationTimestamp().Time
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		switch {
		case !isKubectl(entry) || entry.Operation == metav1.ManagedFieldsOperationUpdate:
			return isEarlier(entry)
		case entry.Time != nil && entry.Time.Sub(made) <= time.Second:
			return true
		}
		return !slices.ContainsFunc(entries, o.isOfAnother)
	})
}

// isOfAnother tells whether an entry of managed fields may be of who made the object: it is not of this deployment, of
// kubectl, or of a controller that writes to what others made.
func (o membership) isOfAnother(entry metav1.ManagedFieldsEntry) bool {
	return entry.Subresource == "" && !isEarlier(entry) && entry.Manager != o.set.manager() &&
		!slices.Contains([]string{"kube-controller-manager", "cert-manager-cainjector"}, entry.Manager)
}

// has reports whether an object that the cluster has may be deleted as a member of the set. The label alone is no
// proof: `kubectl get -o yaml` copies it. The inventory must list the object with this UID. For objects that it lists
// without one, and without such an inventory, the label must be this deployment's own field. An object without the
// label is a member if a slipway that knew no sets applied it.
func (o membership) has(live *unstructured.Unstructured) bool {
	label, labelled := live.GetLabels()[partOfLabel]
	if !labelled || label != o.set.id() {
		return !labelled && slices.ContainsFunc(live.GetManagedFields(), isUnnamed)
	}
	uid, named := o.listed[identityOf(live)]
	if o.listed == nil || named && uid == "" {
		return o.labels(live)
	}
	return named && uid == live.GetUID()
}

// labels reports whether this deployment, or an earlier slipway, gave an object its label.
func (o membership) labels(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		if entry.Manager != o.set.manager() && entry.Manager != FieldManager || entry.Subresource != "" {
			return false
		}
		fields, err := fieldSet(entry)
		return err == nil && fields.Has(labelPath)
	})
}

// isEarlier tells an entry of managed fields whose fields are taken over without a conflict.
func isEarlier(entry metav1.ManagedFieldsEntry) bool { return isUnnamed(entry) || isKubectl(entry) }

// isUnnamed tells whether an entry is of a slipway that had one name for all projects.
func isUnnamed(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Subresource == ""
}

// isKubectl tells whether an entry of the managed fields is `kubectl apply`'s. Its other verbs write the fields of a
// moment's choice under names of their own, or as Update.
func isKubectl(entry metav1.ManagedFieldsEntry) bool {
	switch {
	case entry.Subresource != "":
		return false
	case entry.Operation == metav1.ManagedFieldsOperationUpdate:
		return entry.Manager == clientSide
	}
	return entry.Manager == serverSide || entry.Manager == lastApplied
}

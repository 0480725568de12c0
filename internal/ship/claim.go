package ship

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
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

// adoptedAnnotation records the UID of a member that was there before: the deployment has taken it over and did not
// create it, so that it goes only by consent. It comes with the label, in one request, and no inventory is needed for
// it. Another UID, as in a copy, says nothing.
const adoptedAnnotation = "slipway.dev/adopted"

// isAdopted reports whether a member was there before the deployment.
func isAdopted(live *unstructured.Unstructured) bool {
	uid := live.GetUID()
	return uid != "" && live.GetAnnotations()[adoptedAnnotation] == string(uid)
}

// labelPath is where members have the set's id.
var labelPath = fieldpath.MakePathOrDie("metadata", "labels", partOfLabel)

// A membership decides which objects of a cluster are a set's own.
type membership struct {
	set    *Set
	listed roster // by the inventory; nil if there is none, or one of a slipway that listed kinds alone
}

// claim is object as it is applied: a member of the set, unless the object that the cluster has, live, which may be
// nil, is not this deployment's. Then why says so, and only its fields are set. A member records whether it was there
// before.
func (o membership) claim(object, live *unstructured.Unstructured, force bool) (claimed *unstructured.Unstructured, why string) {
	if o.set == nil {
		return object, ""
	}
	if why = o.notOurs(object, live); why != "" && (!force || kindOf(object) == namespaceKind) {
		return o.leave(object, live), why
	}
	var adopted types.UID
	if live != nil && (isAdopted(live) || !o.owns(live)) {
		adopted = live.GetUID()
	}
	return member(object, o.set.id(), adopted), ""
}

// leave is object as it is applied without a claim. What makes it a member of another deployment of the project stays:
// both apply under one name, and a field of that name which is not applied goes.
func (o membership) leave(object, live *unstructured.Unstructured) *unstructured.Unstructured {
	label := live.GetLabels()[partOfLabel]
	switch {
	case label == "" || !o.labels(live):
		return object
	case isAdopted(live):
		return member(object, label, live.GetUID())
	}
	return member(object, label, "")
}

// member is object as a member of the set with an id. A UID is that of the object that was there before.
func member(object *unstructured.Unstructured, id string, adopted types.UID) *unstructured.Unstructured {
	object = object.DeepCopy()
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[partOfLabel] = id
	object.SetLabels(labels)
	delete(annotations, adoptedAnnotation) // a manifest does not decide it
	if adopted != "" && annotations == nil {
		annotations = map[string]string{}
	}
	if adopted != "" {
		annotations[adoptedAnnotation] = string(adopted)
	}
	if annotations != nil {
		object.SetAnnotations(annotations)
	}
	return object
}

// owns reports whether an object that the cluster has is this deployment's already.
func (o membership) owns(live *unstructured.Unstructured) bool { return o.has(live) || o.labels(live) }

// notOurs is why an object that is to be applied is not this deployment's; empty if it is, or if there is none. A
// deployment takes over what an earlier slipway or `kubectl apply` brought, even if it has another UID than the listed
// object.
func (o membership) notOurs(object, live *unstructured.Unstructured) string {
	switch {
	case live == nil:
		return ""
	case !slices.Contains([]string{"", o.set.id()}, live.GetLabels()[partOfLabel]):
		return whyAnothers
	case o.owns(live), o.applied(object, live):
		return ""
	}
	return whyBefore
}

// applied reports whether an earlier slipway or `kubectl apply` applied an object's manifest, maybe an older one.
// Server-side apply also adds fields to objects of others, such as a label to a namespace: it counts if it owns a field
// of the manifest beside the metadata, or if no other manager has written to the object.
func (o membership) applied(object, live *unstructured.Unstructured) bool {
	entries := live.GetManagedFields()
	alone := !slices.ContainsFunc(entries, o.isOfAnother)
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		if !isKubectl(entry) || entry.Operation == metav1.ManagedFieldsOperationUpdate {
			return isEarlier(entry)
		}
		return alone || sharesField(entry, object)
	})
}

// sharesField reports whether an entry of managed fields owns a field that a manifest has beside its metadata.
func sharesField(entry metav1.ManagedFieldsEntry, manifest *unstructured.Unstructured) (shares bool) {
	fields, err := fieldSet(entry)
	if err != nil {
		return false
	}
	fields.Leaves().Iterate(func(p fieldpath.Path) {
		inMetadata := p[0].FieldName != nil && *p[0].FieldName == "metadata"
		shares = shares || !inMetadata && hasField(manifest.Object, p)
	})
	return shares
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

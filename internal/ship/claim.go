package ship

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clientSide is the field manager of `kubectl apply` without --server-side.
const clientSide = "kubectl-client-side-apply"

// Why an object that is applied is no member of the set.
const (
	whyAnothers = "belongs to another deployment: undeploy keeps it"
	whyBefore   = "another tool created it: undeploy keeps it"
)

// claim is object as it is applied: a member of the set, unless the object that the cluster has, live, which may be
// nil, is not this deployment's. Then why says so, and only its fields are set.
func (s *Set) claim(object, live *unstructured.Unstructured, force bool) (claimed *unstructured.Unstructured, why string) {
	if s == nil {
		return object, ""
	}
	if why = s.notOurs(live); why != "" && !(force && kindOf(object) != namespaceKind) {
		return object, why
	}
	claimed = object.DeepCopy()
	labels := claimed.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[partOfLabel] = s.id()
	claimed.SetLabels(labels)
	return claimed, ""
}

// notOurs is why an object that the cluster has is not this deployment's; empty if it is, or if there is none. What has
// no label is so if an earlier slipway or `kubectl apply` brought it: those who deploy it now take it over.
func (s *Set) notOurs(live *unstructured.Unstructured) string {
	if live == nil {
		return ""
	}
	switch live.GetLabels()[partOfLabel] {
	case s.id():
		return ""
	case "":
		if slices.ContainsFunc(live.GetManagedFields(), isEarlier) {
			return ""
		}
		return whyBefore
	}
	return whyAnothers
}

// has tells whether an object that the cluster has is a member of the set, or was brought by a slipway that knew no
// sets. What kubectl brought and slipway never applied is not ours to delete.
func (s *Set) has(live *unstructured.Unstructured) bool {
	label, labelled := live.GetLabels()[partOfLabel]
	return label == s.id() || !labelled && slices.ContainsFunc(live.GetManagedFields(), isUnnamed)
}

// isEarlier tells an entry of managed fields whose fields are taken over without a conflict.
func isEarlier(entry metav1.ManagedFieldsEntry) bool { return isUnnamed(entry) || isClientSide(entry) }

// isUnnamed tells whether an entry is of a slipway that had one name for all projects.
func isUnnamed(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Subresource == ""
}

// isClientSide tells whether an entry of the managed fields is `kubectl apply`'s.
func isClientSide(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == clientSide && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
}

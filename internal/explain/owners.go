package explain

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// owners looks for the owners of the object: the garbage collector deletes it if it finds none in its namespace. See
// https://kubernetes.io/docs/concepts/architecture/garbage-collection.
func (s *scene) owners(ctx context.Context, m *member) {
	for _, owner := range m.object.GetOwnerReferences() {
		gv, err := schema.ParseGroupVersion(owner.APIVersion)
		if err != nil {
			m.because(concrete, "InvalidOwner", "its owner %s has no valid apiVersion: %q", owner.Name, owner.APIVersion)
			continue
		}
		named := strings.ToLower(owner.Kind) + "/" + owner.Name
		served, known := s.kinds.of(gv.WithKind(owner.Kind).GroupKind())
		if !known {
			m.because(concrete, "OwnerNotServed", "the cluster does not serve the kind of its owner %s, %s", named, owner.APIVersion)
			continue
		}
		found, err := served.In(s.client, m.object.GetNamespace()).Get(ctx, owner.Name, metav1.GetOptions{})
		switch {
		case err == nil && found.GetUID() != owner.UID:
			m.because(concrete, "OwnerReplaced", "its owner %s was deleted, and there is another one of that name: the garbage collector deletes this object", named)
		case apierrors.IsNotFound(err):
			s.absentOwner(ctx, m, served, owner)
		case err != nil:
			s.unread("the owner "+named, err)
		}
	}
	s.strayChildren(ctx, m)
}

// absentOwner says where an owner is that is not beside its child.
func (s *scene) absentOwner(ctx context.Context, m *member, served ship.Served, owner metav1.OwnerReference) {
	named := strings.ToLower(owner.Kind) + "/" + owner.Name
	if client, err := s.cluster.Metadata(); err == nil && served.Namespaced {
		all, err := client.Resource(served.GroupVersionResource).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + owner.Name})
		for _, other := range items(all, err) {
			if other.UID == owner.UID {
				m.because(concrete, "OwnerInOtherNamespace", "its owner %s is in namespace %s: an owner has to be in the namespace of what it owns, so the garbage collector deletes this object", named, other.Namespace)
				return
			}
		}
	}
	m.because(concrete, "OwnerGone", "its owner %s is gone: the garbage collector deletes this object", named)
}

// items are those of a list that could be read.
func items(list *metav1.PartialObjectMetadataList, err error) []metav1.PartialObjectMetadata {
	if err != nil {
		return nil
	}
	return list.Items
}

// strayChildren finds what the garbage collector says of children that name the object as owner from another namespace.
func (s *scene) strayChildren(ctx context.Context, m *member) {
	list, err := s.client.Resource(eventResource).List(ctx, metav1.ListOptions{FieldSelector: "reason=OwnerRefInvalidNamespace"})
	if err != nil {
		s.unread("events", err)
		return
	}
	for i := range list.Items {
		event := list.Items[i].Object
		message, _, _ := unstructured.NestedString(event, "message")
		if uid := string(m.object.GetUID()); uid == "" || !strings.Contains(message, uid) {
			continue
		}
		kind, _, _ := unstructured.NestedString(event, "involvedObject", "kind")
		namespace, _, _ := unstructured.NestedString(event, "involvedObject", "namespace")
		name, _, _ := unstructured.NestedString(event, "involvedObject", "name")
		child := report.ObjectRef{Kind: kind, Namespace: namespace, Name: name}
		s.elsewhere(concrete, child, "OwnerInOtherNamespace", "it names this object as its owner, which is not in its namespace: the garbage collector deletes it")
		return
	}
}

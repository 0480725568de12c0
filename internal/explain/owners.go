package explain

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// owners looks for the owners of the object: the garbage collector deletes it if it finds none of them in its
// namespace. An object works as long as it is there. See
// https://kubernetes.io/docs/concepts/architecture/garbage-collection.
func (s *scene) owners(ctx context.Context, m *member) {
	kept, absent := false, []Cause{}
	for _, owner := range m.object.GetOwnerReferences() {
		reason, message := s.absentOwner(ctx, m, owner)
		if reason == "" {
			kept = true
			continue
		}
		absent = append(absent, Cause{Object: m.ref(), Reason: reason, Message: message, weight: admission})
	}
	for _, c := range absent {
		if c.Message += ": the garbage collector deletes this object"; kept {
			c.Message = strings.TrimSuffix(c.Message, "deletes this object") + "removes the reference"
		}
		m.causes = append(m.causes, c)
	}
	s.strayChildren(ctx, m)
}

// absentOwner says why an owner does not keep its child; "" if it does, or if that is not known.
func (s *scene) absentOwner(ctx context.Context, m *member, owner metav1.OwnerReference) (reason, message string) {
	named := strings.ToLower(owner.Kind) + "/" + owner.Name
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return "", ""
	}
	served, known := s.kinds.of(gv.WithKind(owner.Kind).GroupKind())
	if !known {
		return "", "" // nothing is deleted as long as the owner cannot be looked for
	}
	found, err := served.In(s.client, m.object.GetNamespace()).Get(ctx, owner.Name, metav1.GetOptions{})
	switch {
	case err == nil && found.GetUID() == owner.UID:
		return "", ""
	case err == nil:
		return "OwnerReplaced", "its owner " + named + " was deleted, and there is another one of that name"
	case !apierrors.IsNotFound(err):
		s.unread("the owner "+named, err)
		return "", ""
	}
	if served.Namespaced {
		all, err := s.metadata.Resource(served.GroupVersionResource).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + owner.Name})
		for _, other := range items(all, err) {
			if other.UID == owner.UID {
				return "OwnerInOtherNamespace", "its owner " + named + " is in namespace " + other.Namespace + ", and an owner has to be in the namespace of what it owns"
			}
		}
	}
	return "OwnerGone", "its owner " + named + " is gone"
}

// items are those of a list that could be read.
func items(list *metav1.PartialObjectMetadataList, err error) []metav1.PartialObjectMetadata {
	if err != nil {
		return nil
	}
	return list.Items
}

// strayReason is that of the garbage collector's events about a child whose owner is in another namespace.
const strayReason = "OwnerRefInvalidNamespace"

// strayChildren finds children that name the object as owner from another namespace. Events say where to look, and no
// more, since any user may write one.
func (s *scene) strayChildren(ctx context.Context, m *member) {
	uid := m.object.GetUID()
	list, err := s.client.Resource(eventResource).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + strayReason})
	if err != nil || uid == "" {
		return // of users who may not read all events, children are in their own namespace
	}
	for i := range list.Items {
		event := list.Items[i].Object
		if message, _, _ := unstructured.NestedString(event, "message"); !strings.Contains(message, string(uid)) {
			continue
		}
		kind, _, _ := unstructured.NestedString(event, "involvedObject", "kind")
		namespace, _, _ := unstructured.NestedString(event, "involvedObject", "namespace")
		name, _, _ := unstructured.NestedString(event, "involvedObject", "name")
		if namespace != list.Items[i].GetNamespace() { // the API server lets no event be about another namespace
			continue
		}
		s.elsewhere(symptom, report.ObjectRef{Kind: kind, Namespace: namespace, Name: name}, "OwnerInOtherNamespace", "it names this object as its owner, which is not in its namespace: the garbage collector deletes it")
		return
	}
}

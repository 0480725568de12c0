package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/ship"
)

// deletion judges an object that is being deleted.
func (s *scene) deletion(ctx context.Context, m *member) {
	since := s.age(*m.object.GetDeletionTimestamp()) // of pods, it begins behind their grace period
	m.state, m.text = Deleting, "it is being deleted"
	if since < usualDeletion {
		return
	}
	m.state = Stuck
	if m.kind() == namespaceKind {
		s.stuckNamespace(ctx, m, since)
		return
	}
	if m.kind() == definitionKind {
		s.stuckDefinition(ctx, m, since)
		return
	}
	if len(m.object.GetFinalizers()) == 0 {
		m.because(concrete, "NotEnded", "it is being deleted since %s, and its node has not ended it", since)
		return
	}
	for _, finalizer := range m.object.GetFinalizers() {
		s.finalizer(ctx, m, finalizer, since)
	}
	m.text = "it waits for " + strings.Join(m.object.GetFinalizers(), ", ")
}

// finalizer says who has to remove a finalizer. See
// https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers.
func (s *scene) finalizer(ctx context.Context, m *member, finalizer string, since time.Duration) {
	switch finalizer {
	case metav1.FinalizerDeleteDependents:
		var below []string
		for _, child := range s.members {
			if child.above == m {
				below = append(below, ship.RefText(child.ref()))
			}
		}
		if len(below) > 0 {
			m.because(symptom, "Foreground", "since %s it waits for the deletion of what it owns: %s", since, plainly(strings.Join(below, ", ")))
		}
	case "kubernetes.io/pvc-protection":
		if users := s.usersOf(ctx, m); users != "" {
			m.because(concrete, "ClaimInUse", "since %s it waits for the pods that use it: %s", since, users)
		}
	default:
		c := m.because(concrete, "Finalizer", "since %s its deletion waits for the finalizer %s; %s, and its controller has to remove it", since, finalizer, s.setBy(m.object, finalizer))
		c.Next = command("slipway kubectl get --show-managed-fields -o yaml %s %s", strings.ToLower(m.object.GetKind()), m.object.GetName())
		if namespace := m.object.GetNamespace(); namespace != "" && c.Next != "" {
			c.Next += " -n " + namespace
		}
	}
}

// setBy says who has put a finalizer on an object.
func (s *scene) setBy(object *unstructured.Unstructured, finalizer string) string {
	if manager, at := setter(object, finalizer); manager != "" {
		return fmt.Sprintf("manager %q has set it %s ago", manager, s.age(at))
	}
	return "it is not known who has set it"
}

// setter is the field manager that has put a finalizer on an object, and when it has written last.
func setter(object *unstructured.Unstructured, finalizer string) (manager string, at metav1.Time) {
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 != nil && entry.Time != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"v:\"`+finalizer+`\""`) {
			return entry.Manager, *entry.Time
		}
	}
	return "", at
}

// usersOf are the pods that mount a claim.
func (s *scene) usersOf(ctx context.Context, m *member) string {
	pods, err := s.client.Resource(podResource).Namespace(m.object.GetNamespace()).List(ctx, metav1.ListOptions{})
	if err != nil {
		s.unread("pods", err)
		return ""
	}
	var users []string
	for i := range pods.Items {
		volumes, _, _ := unstructured.NestedSlice(pods.Items[i].Object, "spec", "volumes")
		for _, item := range volumes {
			volume, _ := item.(map[string]any)
			if claim, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName"); claim == m.object.GetName() {
				users = append(users, pods.Items[i].GetName())
			}
		}
	}
	return plainly(strings.Join(users, ", "))
}

var namespaceKind = schema.GroupKind{Kind: "Namespace"}

// isHeld reports whether a finalizer holds up the deletion of an object.
func isHeld(meta metav1.ObjectMeta) bool {
	return len(meta.Finalizers) > 0 && meta.DeletionTimestamp != nil
}

// stuckNamespace says what a namespace waits for: its controller writes that into conditions, without names of objects.
func (s *scene) stuckNamespace(ctx context.Context, m *member, since time.Duration) {
	m.text = "it waits for its content to be deleted"
	var held []string
	for _, o := range s.read(s.contents(ctx, m.object.GetName(), nil, isHeld)) {
		held = append(held, o.String()+" for the finalizer "+strings.Join(o.meta.Finalizers, ", "))
	}
	if slices.Sort(held); len(held) > 0 {
		m.because(concrete, "SomeFinalizersRemain", "since %s its deletion waits for %s", since, plainly(strings.Join(held, "; "))).Next = "slipway kubectl get all -n " + m.object.GetName()
	}
	for _, c := range conditionsOf(m.object) {
		switch {
		case c.status != "True":
		case strings.HasPrefix(c.kind, "NamespaceDeletion"): // its content cannot be listed or deleted
			m.because(concrete, c.reason, "since %s its deletion waits: %s", since, plainly(c.message)).Next = "slipway kubectl get apiservices"
		case len(held) == 0:
			m.because(symptom, c.reason, "since %s its deletion waits: %s", since, plainly(c.message))
		}
	}
}

// mostHeld bounds how many of the objects that hold up a deletion are named.
const mostHeld = 3

// stuckDefinition says which objects of its kind a definition waits for: the API server deletes them first. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#delete-a-customresourcedefinition.
func (s *scene) stuckDefinition(ctx context.Context, m *member, since time.Duration) {
	m.text = "it waits for the objects of its kind to be deleted"
	group, _, _ := unstructured.NestedString(m.object.Object, "spec", "group")
	resource, _, _ := unstructured.NestedString(m.object.Object, "spec", "names", "plural")
	held := s.read(s.contents(ctx, "", []schema.GroupResource{{Group: group, Resource: resource}}, isHeld))
	slices.SortFunc(held, func(a, b owned) int { return strings.Compare(a.String(), b.String()) })
	var names []string
	for _, o := range held[:min(len(held), mostHeld)] {
		object, err := o.served.In(s.client, o.meta.Namespace).Get(ctx, o.meta.Name, metav1.GetOptions{})
		if err != nil { // it may have gone meanwhile
			continue
		}
		for _, finalizer := range object.GetFinalizers() {
			names = append(names, fmt.Sprintf("%s (finalizer %s: %s)", o, finalizer, s.setBy(object, finalizer)))
		}
	}
	if len(names) == 0 {
		reason, message := undefinedBecause(m.object)
		m.because(concrete, reason, "%s", message)
		return
	}
	if more := len(held) - mostHeld; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	m.because(concrete, "InstancesRemain", "since %s its deletion waits for %s", since, plainly(strings.Join(names, "; "))).Next = command("slipway explain %s %s", strings.ToLower(held[0].served.Kind), held[0].meta.Name)
	if c := &m.causes[len(m.causes)-1]; held[0].meta.Namespace != "" && c.Next != "" {
		c.Next += " -n " + held[0].meta.Namespace
	}
}

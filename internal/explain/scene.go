package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

const (
	// mostMembers bounds how many objects are looked at; the rest is counted.
	mostMembers = 100
	// together bounds how many requests are made at once.
	together = 8
)

// scene is what an answer is made of.
type scene struct {
	cluster    *ship.Cluster
	client     dynamic.Interface
	metadata   metadata.Interface
	kinds      kinds
	now        time.Time
	ref        report.ObjectRef
	served     ship.Served                // of the object; without a name if the cluster does not serve the kind
	definition *unstructured.Unstructured // of the object's kind, for those of CRDs
	members    []*member                  // the object, and what it owns, each behind its owner
	more       int
	warnings   map[types.UID][]corev1.Event
	eventful   map[string]bool // namespaces of which the warnings were read
	references []Reference
	causes     []Cause // that lie outside of the members
	changes    []Change
	within     map[uint64]Deed // entries by number that belong to reconciles
	field      *Field
	unrecorded string
	unknown    []string
}

// member is an object of the scene.
type member struct {
	object *unstructured.Unstructured
	above  *member // owns it; nil for the object of the question
	depth  int
	state  State
	text   string
	says   bool // its own conditions say that it is ready
	unseen bool // no controller has written a status of its newest generation
	failed bool // they say that it will not be
	causes []Cause
}

func (m *member) ref() report.ObjectRef {
	return report.ObjectRef{Kind: m.object.GetKind(), Namespace: m.object.GetNamespace(), Name: m.object.GetName()}
}

func (m *member) kind() schema.GroupKind { return m.object.GroupVersionKind().GroupKind() }

// because adds a cause that lies in the member.
func (m *member) because(w weight, reason, format string, args ...any) *Cause {
	m.causes = append(m.causes, Cause{Object: m.ref(), Reason: reason, Message: fmt.Sprintf(format, args...), weight: w, depth: m.depth})
	return &m.causes[len(m.causes)-1]
}

// elsewhere adds a cause that lies in another object.
func (s *scene) elsewhere(w weight, of report.ObjectRef, reason, format string, args ...any) *Cause {
	s.causes = append(s.causes, Cause{Object: of, Reason: reason, Message: fmt.Sprintf(format, args...), weight: w})
	return &s.causes[len(s.causes)-1]
}

// unread notes what could not be read.
func (s *scene) unread(what string, err error) {
	text := what + ": " + err.Error()
	if apierrors.IsForbidden(err) {
		text = what + ": the user of the kubeconfig may not read it"
	}
	if !slices.Contains(s.unknown, text) {
		s.unknown = append(s.unknown, text)
	}
}

// gather reads the object and what belongs to it.
func gather(ctx context.Context, cluster *ship.Cluster, q Question) (*scene, error) {
	if err := cluster.Ping(ctx); err != nil {
		return nil, err
	}
	s := &scene{
		cluster: cluster, client: cluster.Reader(), now: time.Now(), references: []Reference{}, changes: []Change{}, unknown: []string{},
		warnings: map[types.UID][]corev1.Event{}, eventful: map[string]bool{},
	}
	var err error
	if s.metadata, err = cluster.Metadata(); err != nil {
		return nil, err
	}
	if s.kinds, err = cluster.Served(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // of what is not waited for
	below := s.below(ctx, q)
	if err := s.find(ctx, q); err != nil {
		return nil, err
	}
	s.events(ctx)
	if s.served.Resource != "" {
		s.webhooks(ctx)
	}
	if top := s.members[0]; top.state != Missing && top.kind() != namespaceKind {
		s.own(ctx, children(s.read(below())))
	}
	s.events(ctx)
	return s, nil
}

// namespaceOf is the one in which the object of a question is, empty if its kind has none.
func (s *scene) namespaceOf(q Question, served ship.Served) string {
	if served.Namespaced {
		return cmp.Or(q.Namespace, s.cluster.Namespace())
	}
	return ""
}

// find reads the object, and the definition of its kind.
func (s *scene) find(ctx context.Context, q Question) error {
	served, known := s.kinds.named(q.Kind)
	if s.definition = s.definitionOf(ctx, q.Kind, served); !known && s.definition == nil {
		return s.kinds.unknownKind(q.Kind)
	}
	if stored, _ := versionsOf(s.definition); stored != nil {
		if _, is := converter(s.definition); is {
			served.Version = stored.name // it can be read there if its conversion fails
		}
	}
	s.served = served
	s.ref = report.ObjectRef{Kind: served.Kind, Name: q.Name}
	if !known {
		s.ref.Kind, _, _ = unstructured.NestedString(s.definition.Object, "spec", "names", "kind")
	}
	s.ref.Namespace = s.namespaceOf(q, served)
	if !known {
		s.ref.Namespace = cmp.Or(q.Namespace, s.cluster.Namespace())
	}
	stub := &unstructured.Unstructured{Object: map[string]any{}}
	stub.SetGroupVersionKind(served.GroupVersion().WithKind(s.ref.Kind))
	stub.SetNamespace(s.ref.Namespace)
	stub.SetName(s.ref.Name)
	top := &member{object: stub, state: Missing}
	s.members = []*member{top}
	if !known {
		return nil
	}
	live, err := s.cluster.Live(ctx, []*unstructured.Unstructured{stub})
	if err != nil {
		return err
	}
	if len(live) > 0 {
		top.object, top.state = live[0], Ready
	}
	return nil
}

// Served is what has the objects of the question's kind. A kind that the cluster does not serve is an error.
func (q Question) Served(ctx context.Context, cluster *ship.Cluster) (ship.Served, error) {
	all, err := cluster.Served(ctx)
	if err != nil {
		return ship.Served{}, err
	}
	if served, known := kinds(all).named(q.Kind); known {
		return served, nil
	}
	return ship.Served{}, kinds(all).unknownKind(q.Kind)
}

var definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// definitionOf returns the definition of a kind that is served or, if none is, of that name; nil if there is none.
func (s *scene) definitionOf(ctx context.Context, named string, served ship.Served) *unstructured.Unstructured {
	definitions := s.client.Resource(definitionResource)
	if served.Resource != "" {
		if !strings.Contains(served.Group, ".") {
			return nil
		}
		found, err := definitions.Get(ctx, served.Resource+"."+served.Group, metav1.GetOptions{})
		if err != nil {
			if !apierrors.IsNotFound(err) {
				s.unread("the CRD of "+named, err)
			}
			return nil
		}
		return found
	}
	all, err := definitions.List(ctx, metav1.ListOptions{})
	if err != nil {
		s.unread("CRDs", err)
		return nil
	}
	name, group, _ := strings.Cut(strings.ToLower(named), ".")
	for i := range all.Items {
		names, _, _ := unstructured.NestedMap(all.Items[i].Object, "spec", "names")
		of, _, _ := unstructured.NestedString(all.Items[i].Object, "spec", "group")
		short, _, _ := unstructured.NestedStringSlice(names, "shortNames")
		kind, _ := names["kind"].(string)
		if (group == "" || strings.HasPrefix(of, group)) && (names["plural"] == name || names["singular"] == name || strings.ToLower(kind) == name || slices.Contains(short, name)) {
			return &all.Items[i]
		}
	}
	return nil
}

var eventResource = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// mostNamespaces bounds of how many namespaces warnings are read.
const mostNamespaces = 10

// events reads the warnings in the namespaces of members, unless it has read them. Those of objects without one are in
// default.
func (s *scene) events(ctx context.Context) {
	for _, m := range s.members {
		namespace := cmp.Or(m.object.GetNamespace(), metav1.NamespaceDefault)
		if !s.eventful[namespace] && len(s.eventful) < mostNamespaces {
			s.eventful[namespace] = true
			s.eventsIn(ctx, namespace)
		}
	}
}

func (s *scene) eventsIn(ctx context.Context, namespace string) {
	list, err := s.client.Resource(eventResource).Namespace(namespace).List(ctx, metav1.ListOptions{FieldSelector: "type=" + corev1.EventTypeWarning})
	if err != nil {
		s.unread("events", err)
		return
	}
	for _, item := range list.Items {
		var e corev1.Event
		if runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &e) == nil {
			s.warnings[e.InvolvedObject.UID] = append(s.warnings[e.InvolvedObject.UID], e)
		}
	}
	for _, of := range s.warnings {
		slices.SortFunc(of, func(a, b corev1.Event) int { return newest(b).Compare(newest(a)) })
	}
}

// newest is when an event was seen last.
func newest(e corev1.Event) time.Time {
	last := e.LastTimestamp.Time
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	if e.EventTime.After(last) {
		last = e.EventTime.Time
	}
	return last
}

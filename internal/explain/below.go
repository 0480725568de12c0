package explain

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// owned is an object and its resource, as its metadata has it.
type owned struct {
	served ship.Served
	meta   metav1.ObjectMeta
}

func (o owned) String() string {
	return ship.RefText(report.ObjectRef{Kind: o.served.Kind, Namespace: o.meta.Namespace, Name: o.meta.Name})
}

// own reads what the object owns, and what that owns.
func (s *scene) own(ctx context.Context, children map[types.UID][]owned) {
	type place struct {
		owned
		m *member
	}
	var found []place
	seen := map[types.UID]bool{s.members[0].object.GetUID(): true}
	var walk func(of types.UID, above *member)
	walk = func(of types.UID, above *member) {
		for _, child := range children[of] {
			if !seen[child.meta.UID] {
				seen[child.meta.UID] = true
				m := &member{above: above, depth: above.depth + 1, state: Ready}
				found = append(found, place{child, m})
				walk(child.meta.UID, m)
			}
		}
	}
	walk(s.members[0].object.GetUID(), s.members[0])
	s.more = max(0, len(found)-mostMembers+1)
	found = found[:len(found)-s.more]
	group := errgroup.Group{}
	group.SetLimit(together)
	var mu sync.Mutex
	for _, p := range found {
		group.Go(func() error {
			object, err := p.served.In(s.client, p.meta.Namespace).Get(ctx, p.meta.Name, metav1.GetOptions{})
			if err == nil {
				p.m.object = object
			} else if !apierrors.IsNotFound(err) { // it may have gone meanwhile
				mu.Lock()
				defer mu.Unlock()
				s.unread(p.served.Resource, err)
			}
			return nil
		})
	}
	_ = group.Wait() // each notes its own failure
	for _, p := range found {
		if p.m.object != nil && (p.m.above == nil || p.m.above.object != nil) {
			s.members = append(s.members, p.m)
		}
	}
}

// unowned are resources whose objects are many, or copies of others, and in no one's tree.
var unowned = map[schema.GroupResource]bool{
	{Resource: "events"}: true, {Group: "events.k8s.io", Resource: "events"}: true, {Resource: "endpoints"}: true,
	{Group: "coordination.k8s.io", Resource: "leases"}: true,
}

// IsNotable reports whether objects of a resource belong to an overview of a cluster: they are not many copies of
// others.
func IsNotable(r schema.GroupResource) bool { return !unowned[r] }

// owns are the resources that the controllers of kinds of Kubernetes make, directly or not. To list no others of those
// keeps an answer fast, however much there is in a namespace.
var owns = map[schema.GroupKind][]schema.GroupResource{
	{Group: "apps", Kind: "Deployment"}:  {{Group: "apps", Resource: "replicasets"}, {Resource: "pods"}},
	{Group: "apps", Kind: "ReplicaSet"}:  {{Resource: "pods"}},
	{Group: "apps", Kind: "StatefulSet"}: {{Resource: "pods"}, {Resource: "persistentvolumeclaims"}},
	{Group: "apps", Kind: "DaemonSet"}:   {{Resource: "pods"}},
	{Group: "batch", Kind: "Job"}:        {{Resource: "pods"}},
	{Group: "batch", Kind: "CronJob"}:    {{Group: "batch", Resource: "jobs"}, {Resource: "pods"}},
	{Kind: "Service"}:                    {{Group: "discovery.k8s.io", Resource: "endpointslices"}},
	{Kind: "Pod"}:                        {{Resource: "persistentvolumeclaims"}},
	{Kind: "Node"}:                       {},
}

// below begins to list the objects that may be below that of a question, while that is read. An owner in a namespace
// has children there alone. See https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents.
func (s *scene) below(ctx context.Context, q Question) (wait func() contents) {
	served, known := s.kinds.named(q.Kind)
	if !known || served.GroupKind() == namespaceKind {
		return func() contents { return contents{} }
	}
	found := make(chan contents, 1)
	isOwned := func(meta metav1.ObjectMeta) bool { return len(meta.OwnerReferences) > 0 }
	go func() { found <- s.contents(ctx, s.namespaceOf(q, served), owns[served.GroupKind()], isOwned) }()
	return func() contents { return <-found }
}

// children are objects by the UID of their owners.
func children(all []owned) map[types.UID][]owned {
	children := map[types.UID][]owned{}
	for _, o := range all {
		for _, owner := range o.meta.OwnerReferences {
			children[owner.UID] = append(children[owner.UID], o)
		}
	}
	for uid := range maps.Keys(children) {
		slices.SortFunc(children[uid], func(a, b owned) int { return strings.Compare(a.String(), b.String()) })
	}
	return children
}

// contents are the objects of resources, and why some could not be listed, by resource.
type contents struct {
	all    []owned
	failed map[string]error
}

// read notes what could not be listed.
func (s *scene) read(c contents) []owned {
	for _, resource := range slices.Sorted(maps.Keys(c.failed)) {
		s.unread(resource, c.failed[resource])
	}
	return c.all
}

// contents are the objects to keep in a namespace, or in all, with those outside of them, if it is empty; those of some
// resources alone, unless only is nil. It leaves the scene as it is.
func (s *scene) contents(ctx context.Context, namespace string, only []schema.GroupResource, keep func(metav1.ObjectMeta) bool) contents {
	c := contents{failed: map[string]error{}}
	var mu sync.Mutex
	group := errgroup.Group{}
	group.SetLimit(together)
	for _, r := range s.kinds {
		if !r.Collected || unowned[r.GroupResource()] || namespace != "" && !r.Namespaced || only != nil && !slices.Contains(only, r.GroupResource()) {
			continue
		}
		group.Go(func() error {
			var kept []owned
			err := s.cluster.Outlines(ctx, r, namespace, func(meta metav1.ObjectMeta) {
				if keep(meta) {
					kept = append(kept, owned{r, meta})
				}
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				c.failed[r.Resource] = err
			}
			c.all = append(c.all, kept...)
			return nil
		})
	}
	_ = group.Wait() // each notes its own failure
	return c
}

package rehearsal

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/ship"
)

// An identity is what an object is known by, in whatever version.
type identity struct {
	schema.GroupKind
	types.NamespacedName
}

func identityOf(o *unstructured.Unstructured) identity {
	return identity{o.GroupVersionKind().GroupKind(), types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
}

// A customResource is an object of one of the operator's kinds.
type customResource struct {
	kind
	types.NamespacedName
	views map[string]*unstructured.Unstructured // by version, those that could be read
}

// any is a view, the one in the storage version if it could be read.
func (r *customResource) any() *unstructured.Unstructured {
	if o := r.views[r.storage]; o != nil {
		return o
	}
	for _, version := range r.versions {
		if o := r.views[version]; o != nil {
			return o
		}
	}
	return nil
}

// A snapshot is what a cluster has at a moment.
type snapshot struct {
	resources map[identity]*customResource
	others    map[identity]*unstructured.Unstructured
	stored    map[string][]string // status.storedVersions, by the name of the definition
	failed    map[string]error    // kinds that could not be read, as Kind VERSION
}

// unobserved are kinds whose objects come and go by themselves.
var unobserved = []schema.GroupKind{
	{Kind: "Event"}, {Group: "events.k8s.io", Kind: "Event"}, {Kind: "Node"}, {Kind: "ComponentStatus"},
	{Group: "storage.k8s.io", Kind: "CSINode"}, {Group: "metrics.k8s.io", Kind: "PodMetrics"}, {Group: "metrics.k8s.io", Kind: "NodeMetrics"},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Group: "apiregistration.k8s.io", Kind: "APIService"},
}

func newSnapshot() *snapshot {
	return &snapshot{map[identity]*customResource{}, map[identity]*unstructured.Unstructured{}, map[string][]string{}, map[string]error{}}
}

// takeSnapshot reads all objects. That one of the operator's kinds cannot be read in a version is no error here.
func takeSnapshot(ctx context.Context, cluster *ship.Cluster, kinds []kind) (*snapshot, error) {
	s := newSnapshot()
	for _, k := range kinds {
		if err := s.addKind(ctx, cluster, k); err != nil {
			return nil, err
		}
	}
	served, err := cluster.ServedResources(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range served {
		group := schema.GroupKind{Group: r.Group, Kind: r.Kind}
		if _, own := findKind(kinds, group); own || slices.Contains(unobserved, group) {
			continue
		}
		list, err := cluster.Client().Resource(r.GroupVersionResource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			continue // it has just gone
		}
		if err != nil {
			return nil, fmt.Errorf("read all %s: %w", r.Resource, err)
		}
		for i := range list.Items {
			s.others[identityOf(&list.Items[i])] = &list.Items[i]
		}
	}
	return s, nil
}

// addKind reads the objects of a kind in each version.
func (s *snapshot) addKind(ctx context.Context, cluster *ship.Cluster, k kind) error {
	for _, version := range k.versions {
		list, err := cluster.Client().Resource(k.resource(version)).List(ctx, metav1.ListOptions{})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.failed[k.Kind+" "+version] = err
			continue
		}
		for i := range list.Items {
			s.addResource(k, version, &list.Items[i])
		}
	}
	definition, err := cluster.Client().Resource(ship.Definitions).Get(ctx, k.definition, metav1.GetOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read the definition %s: %w", k.definition, err)
	}
	s.stored[k.definition], _, _ = unstructured.NestedStringSlice(definition.Object, "status", "storedVersions")
	return nil
}

// addResource adds an object as it is in a version.
func (s *snapshot) addResource(k kind, version string, o *unstructured.Unstructured) {
	at := identityOf(o)
	if s.resources[at] == nil {
		s.resources[at] = &customResource{k, at.NamespacedName, map[string]*unstructured.Unstructured{}}
	}
	s.resources[at].views[version] = o
}

// has reports whether there are objects of a kind.
func (s *snapshot) has(k kind) bool {
	for at := range s.resources {
		if at.GroupKind == k.GroupKind {
			return true
		}
	}
	return false
}

// dependents are the objects that are not in another snapshot, from before there was anything of a user.
func (s *snapshot) dependents(bare *snapshot) map[identity]*unstructured.Unstructured {
	found := map[identity]*unstructured.Unstructured{}
	for at, o := range s.others {
		if bare.others[at] == nil {
			found[at] = o
		}
	}
	return found
}

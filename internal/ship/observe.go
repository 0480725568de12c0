package ship

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Definitions is where the definitions of custom resources are.
var Definitions = crdResource

// NameOf names an object for people: crd/cronjobs.batch.example.com, deployment/system/manager.
func NameOf(object *unstructured.Unstructured) string { return nameOf(object) }

// IsDefinition reports whether an object defines a kind.
func IsDefinition(object *unstructured.Unstructured) bool { return kindOf(object) == crdKind }

// IsWorkload reports whether an object runs pods as long as it is there.
func IsWorkload(object *unstructured.Unstructured) bool { return runsPods(object) }

// ServedVersions are the versions that a definition wants served.
func ServedVersions(definition *unstructured.Unstructured) []string { return versionsOf(definition) }

// StorageVersion is the version in which a definition has objects stored.
func StorageVersion(definition *unstructured.Unstructured) string { return storageVersion(definition) }

// Client returns a client of the cluster that reports no warnings of the server.
func (c *Cluster) Client() dynamic.Interface { return c.quiet }

// A ServedResource is one whose objects can be listed and watched.
type ServedResource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// ServedResources are all resources of the cluster, each in the version that the server prefers.
func (c *Cluster) ServedResources(ctx context.Context) (served []ServedResource, err error) {
	var groups metav1.APIGroupList
	if err := c.catalog.get(ctx, "/apis", &groups); err != nil {
		return nil, c.explain(ctx, err)
	}
	versions := []schema.GroupVersion{{Version: "v1"}}
	for _, group := range groups.Groups {
		for _, version := range append([]metav1.GroupVersionForDiscovery{group.PreferredVersion}, group.Versions...) {
			versions = append(versions, schema.GroupVersion{Group: group.Name, Version: version.Version})
		}
	}
	seen := map[schema.GroupResource]bool{}
	for _, version := range versions {
		c.catalog.forget(version) // definitions may have brought more
		resources, err := c.catalog.resources(ctx, version)
		if err != nil {
			return nil, c.explain(ctx, err)
		}
		for _, r := range resources {
			at := version.WithResource(r.Name)
			if isSubresource(r) || seen[at.GroupResource()] || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "watch") {
				continue
			}
			seen[at.GroupResource()] = true
			served = append(served, ServedResource{at, r.Kind, r.Namespaced})
		}
	}
	return served, nil
}

// Restarts is how often containers in the newest pods of a workload were started again.
func (c *Cluster) Restarts(ctx context.Context, workload *unstructured.Unstructured) (n int) {
	live, err := c.live(ctx, workload)
	if err != nil {
		return 0
	}
	for _, pod := range c.podsOf(ctx, live) {
		for _, status := range pod.Status.ContainerStatuses {
			n += int(status.RestartCount)
		}
	}
	return n
}

// Logs returns the last lines of the containers in the newest pods of a workload; none if there are none.
func (c *Cluster) Logs(ctx context.Context, workload *unstructured.Unstructured) (lines []string) {
	live, err := c.live(ctx, workload)
	if err != nil {
		return nil
	}
	for _, pod := range c.podsOf(ctx, live) {
		for _, container := range pod.Spec.Containers {
			lines = append(lines, c.logOf(ctx, pod, container.Name, false)...)
		}
	}
	return lines
}

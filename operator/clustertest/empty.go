package clustertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// emptyTime bounds [Cluster.WaitForEmpty]: the garbage collector needs less than a second, a pod that ends up to its
// grace period.
const emptyTime = time.Minute

// WaitForEmpty waits until a namespace holds no more than each namespace does: the end of a test that deletes
// what it made, and expects that its dependents go, too. It fails t after a minute, and lists what is left.
// Events are not counted, as they go by themselves.
func (c *Cluster) WaitForEmpty(t testing.TB, namespace string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), emptyTime)
	defer cancel()
	if err := c.waitForEmpty(ctx, namespace); err != nil {
		fatal(t, err)
	}
}

func (c *Cluster) waitForEmpty(ctx context.Context, namespace string) error {
	resources, err := c.namespaced()
	if err != nil {
		return &fault.Error{What: "cannot list the cluster's kinds", Err: c.because(err)}
	}
	var left []string
	err = until(ctx, func(ctx context.Context) (bool, error) {
		left, err = c.objects(ctx, namespace, resources)
		return len(left) == 0, err
	})
	if err != nil {
		return &fault.Error{What: fmt.Sprintf("namespace %s is not empty: %s", namespace, strings.Join(left, ", ")), Err: c.because(err)}
	}
	return nil
}

// namespaced returns all resources that can be listed in a namespace, each in one version. Endpoints are left out: they
// are made for Services, and mirrored as EndpointSlices. Resources whose objects cannot be deleted are left out, too:
// metrics of pods go with the pods.
func (c *Cluster) namespaced() ([]schema.GroupVersionResource, error) {
	discover, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return nil, err
	}
	lists, err := discover.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, err
	}
	var found []schema.GroupVersionResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") && !slices.Contains([]string{"events", "endpoints"}, r.Name) {
				found = append(found, gv.WithResource(r.Name))
			}
		}
	}
	return found, nil
}

// objects lists what the namespace holds, each as "RESOURCE.GROUP/NAME". A resource that was taken away has none.
func (c *Cluster) objects(ctx context.Context, namespace string, resources []schema.GroupVersionResource) ([]string, error) {
	var found []string
	for _, r := range resources {
		list, err := c.dynamic.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return found, err
		}
		for _, o := range list.Items {
			if !ofEachNamespace(r, &o) {
				found = append(found, r.GroupResource().String()+"/"+o.GetName())
			}
		}
	}
	return found, nil
}

// ofEachNamespace reports whether an object is there as soon as its namespace is, or as an [Account] is.
func ofEachNamespace(r schema.GroupVersionResource, o *unstructured.Unstructured) bool {
	switch r.Resource {
	case "serviceaccounts":
		return o.GetName() == "default" || o.GetName() == accountName
	case "configmaps":
		return o.GetName() == "kube-root-ca.crt"
	case "roles", "rolebindings":
		return o.GetLabels()[accountLabel] != ""
	}
	return false
}

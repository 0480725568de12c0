package clustertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// quietTime is how long nothing changes in a namespace before [Cluster.WaitForEmpty] gives up objects that the cluster
// keeps: an operator that deletes them by itself does so milliseconds after what it watches has changed.
const quietTime = 3 * time.Second

// WaitForEmpty waits until a namespace holds no more than each namespace does: the end of a test that deletes
// what it made, and expects that its dependents go, too. It fails t with a list of what is left, and why. If something
// is still to go, it waits a minute. If nothing is, it fails three seconds after the last change: an operator that
// deletes objects without being asked to, later than that, is not waited for. Events are not counted, as they go by
// themselves.
func (c *Cluster) WaitForEmpty(t testing.TB, namespace string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), emptyTime)
	defer cancel()
	if err := c.waitForEmpty(ctx, namespace); err != nil {
		fatal(t, err)
	}
}

// errKept and errLate are why a namespace is not empty.
var (
	errKept = errors.New("nothing will delete these objects")
	errLate = errors.New("these objects were not gone in time")
)

func (c *Cluster) waitForEmpty(ctx context.Context, namespace string) error {
	resources, err := c.namespaced()
	if err != nil {
		return &fault.Error{What: "cannot list the cluster's kinds", Err: c.because(err)}
	}
	var left []remnant
	var quiet time.Time // since when
	err = until(ctx, func(ctx context.Context) (bool, error) {
		now, err := c.objects(ctx, namespace, resources)
		if err != nil {
			return false, err
		}
		if quiet.IsZero() || !slices.EqualFunc(left, now, remnant.same) {
			left, quiet = now, time.Now()
		}
		if len(left) == 0 || time.Since(quiet) < quietTime {
			return len(left) == 0, nil
		}
		quiet = time.Now()
		if err := c.explain(ctx, left); err != nil {
			return false, err
		}
		if !slices.ContainsFunc(left, remnant.goes) {
			return false, errKept
		}
		return false, nil
	})
	if err == nil {
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errLate
	}
	return c.notEmpty(ctx, namespace, left, err)
}

// notEmpty is the failure of a wait for an empty namespace. If something was still to go, it is looked at once more.
func (c *Cluster) notEmpty(ctx context.Context, namespace string, left []remnant, err error) error {
	failed := &fault.Error{What: "namespace " + namespace + " is not empty"}
	if errors.Is(err, errKept) {
		failed.Hint = "delete them in the test; or let the operator set an owner reference, or delete them before it removes its finalizer"
	} else {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		err = errors.Join(err, c.explain(last, left))
	}
	failed.Err = c.because(err)
	for _, r := range left {
		failed.Err = fmt.Errorf("%w\n%s", failed.Err, r)
	}
	return failed
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

// objects lists what the namespace holds. A resource that was taken away has none.
func (c *Cluster) objects(ctx context.Context, namespace string, resources []schema.GroupVersionResource) ([]remnant, error) {
	var found []remnant
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
				found = append(found, remnant{name: r.GroupResource().String() + "/" + o.GetName(), object: o})
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

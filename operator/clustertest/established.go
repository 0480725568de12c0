package clustertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/manifest"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// poll is how often is looked at what is about to happen.
const poll = 10 * time.Millisecond

// until looks until there is something to see, an error, or the end of ctx.
func until(ctx context.Context, look func(context.Context) (bool, error)) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if done, err := look(ctx); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// errNames is returned for a definition whose names another one has taken.
var errNames = errors.New("its names are taken")

// established waits until the API server serves a kind in every version: the definition
// says so first, and then requests succeed.
func (c *Cluster) established(ctx context.Context, crd *unstructured.Unstructured) error {
	err := until(ctx, func(ctx context.Context) (bool, error) {
		now, err := c.dynamic.Resource(crdResource).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return condition(now, "Established"), conflict(now)
	})
	if err != nil {
		return err
	}
	resources, err := manifest.Resources(crd)
	if err != nil {
		return err
	}
	for _, r := range resources {
		err := until(ctx, func(ctx context.Context) (bool, error) {
			_, err := c.dynamic.Resource(r).List(ctx, metav1.ListOptions{Limit: 1})
			soon := apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err)
			return !soon, nil // any other error is for who uses the kind: its conversion webhook may not run yet
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// discovered waits until discovery, by which clients map kinds to resources, shows the definitions' resources.
func (c *Cluster) discovered(ctx context.Context, crds []*unstructured.Unstructured) error {
	var missing []schema.GroupVersionResource
	for _, crd := range crds {
		resources, err := manifest.Resources(crd)
		if err != nil {
			return err
		}
		missing = append(missing, resources...)
	}
	discover, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return err
	}
	err = until(ctx, func(context.Context) (bool, error) {
		_, shown, _, err := discover.GroupsAndMaybeResources()
		if err != nil {
			return false, err
		}
		missing = slices.DeleteFunc(missing, func(r schema.GroupVersionResource) bool { return shows(shown[r.GroupVersion()], r.Resource) })
		return len(missing) == 0, nil
	})
	if err != nil {
		return &fault.Error{What: "discovery does not show what was installed", Where: fmt.Sprint(missing), Err: c.because(err)}
	}
	return nil
}

func shows(list *metav1.APIResourceList, resource string) bool {
	return list != nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource })
}

// condition tells whether a condition of the object is true.
func condition(o *unstructured.Unstructured, kind string) bool {
	status, _ := conditionOf(o, kind)
	return status == "True"
}

// conflict returns why a definition will never be established, if that is so.
func conflict(crd *unstructured.Unstructured) error {
	if status, message := conditionOf(crd, "NamesAccepted"); status == "False" {
		return fmt.Errorf("%w: %s", errNames, message)
	}
	return nil
}

// conditionOf returns the status and the message of a condition of the object.
func conditionOf(o *unstructured.Unstructured, kind string) (status, message string) {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range all {
		c, _ := item.(map[string]any)
		if c["type"] == kind {
			status, _ = c["status"].(string)
			message, _ = c["message"].(string)
		}
	}
	return status, message
}

// errEnded is err with the reason that the cluster has ended.
func errEnded(err error) error { return fmt.Errorf("%w (%w)", protocol.ErrEnded, err) }

package clustertest

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/manifest"
)

// published waits until the API server publishes the schema of each kind that is defined, by which kubectl explains it.
func (c *Cluster) published(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	discover, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return err
	}
	crds, err := c.dynamic.Resource(crdResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return &fault.Error{What: "cannot list the CRDs", Err: c.because(err)}
	}
	for i := range crds.Items {
		resources, err := manifest.Resources(&crds.Items[i])
		if err != nil {
			return err
		}
		for _, r := range resources {
			err := until(ctx, func(context.Context) (bool, error) { return publishes(discover.OpenAPIV3(), r) })
			if err != nil {
				return &fault.Error{What: fmt.Sprintf("the API server does not publish the schema of %s", r.GroupResource()), Err: c.because(err)}
			}
		}
	}
	return nil
}

// publishes reports whether the document of a resource's group and version has the resource. One that is about to
// change is no error.
func publishes(documents openapi.Client, r schema.GroupVersionResource) (bool, error) {
	paths, err := documents.Paths()
	if err != nil {
		return false, err
	}
	document, ok := paths["apis/"+r.GroupVersion().String()]
	if !ok {
		return false, nil
	}
	text, err := document.Schema(runtime.ContentTypeJSON)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var has struct{ Paths map[string]json.RawMessage }
	if err := json.Unmarshal(text, &has); err != nil {
		return false, fmt.Errorf("the document of %s cannot be read: %w", r.GroupVersion(), err)
	}
	_, ok = has.Paths["/apis/"+r.GroupVersion().String()+"/"+r.Resource]
	return ok, nil
}

package clustertest

import (
	"context"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/manifest"
)

// The resources of the kinds that are installed.
var (
	crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	hookVersion = manifest.Webhooks.GroupVersion
)

// hookResource returns the resource of a kind of webhook configuration.
func hookResource(kind string) schema.GroupVersionResource {
	if kind == "MutatingWebhookConfiguration" {
		return hookVersion.WithResource("mutatingwebhookconfigurations")
	}
	return hookVersion.WithResource("validatingwebhookconfigurations")
}

// InstallCRDs installs the custom resource definitions at paths, and returns when objects of
// their kinds can be made. A path is a file, or a folder whose .yaml, .yml and .json files are
// read, without its subfolders; relative paths begin at the folder of the package under test, and what
// is no definition is left out. A definition that is there already is updated.
//
// When a definition asks for conversion by a webhook, or its types in [Scheme] convert to each
// other, conversion is the work of the webhook server, see [Cluster.WebhookOptions].
func (c *Cluster) InstallCRDs(t testing.TB, paths ...string) {
	t.Helper()
	if err := c.InstallCRDsContext(t.Context(), paths...); err != nil {
		fatal(t, err)
	}
}

// InstallCRDsContext is [Cluster.InstallCRDs] without a test.
func (c *Cluster) InstallCRDsContext(ctx context.Context, paths ...string) error {
	crds, err := manifest.Read(manifest.CRDs, paths...)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := c.redirectConversion(crd); err != nil {
			return err
		}
	}
	return c.define(ctx, crds)
}

// define installs definitions, and returns when objects of their kinds can be made.
func (c *Cluster) define(ctx context.Context, crds []*unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	err := c.each(ctx, crds, func(ctx context.Context, crd *unstructured.Unstructured) error {
		if err := put(ctx, c.dynamic.Resource(crdResource), crd); err != nil {
			return err
		}
		return c.established(ctx, crd)
	})
	if err != nil {
		return err
	}
	return c.discovered(ctx, crds)
}

// redirectConversion has the webhook server convert the versions of crd if a webhook should.
func (c *Cluster) redirectConversion(crd *unstructured.Unstructured) error {
	types := c.settings.scheme
	if !c.settings.typed {
		types = nil
	}
	converts, err := manifest.Converts(crd, types)
	if err != nil || !converts {
		return err
	}
	return manifest.RedirectConversion(crd, c.server())
}

// InstallWebhooks installs the webhook configurations at paths, which are read as [Cluster.InstallCRDs] does. Those
// that name a Service are pointed to the webhook server of this machine that [Cluster.WebhookOptions] describes. As
// long as that does not run, requests that a webhook must see are refused; [Cluster.WaitForWebhooks] waits for it.
func (c *Cluster) InstallWebhooks(t testing.TB, paths ...string) {
	t.Helper()
	if err := c.InstallWebhooksContext(t.Context(), paths...); err != nil {
		fatal(t, err)
	}
}

// InstallWebhooksContext is [Cluster.InstallWebhooks] without a test.
func (c *Cluster) InstallWebhooksContext(ctx context.Context, paths ...string) error {
	configs, err := manifest.Read(manifest.Webhooks, paths...)
	if err != nil {
		return err
	}
	for _, config := range configs {
		if err := manifest.Redirect(config, c.server()); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	return c.each(ctx, configs, func(ctx context.Context, config *unstructured.Unstructured) error {
		return put(ctx, c.dynamic.Resource(hookResource(config.GetKind())), config)
	})
}

// atOnce is how many objects are installed at the same time.
const atOnce = 8

// each does a step of the installation for all objects.
func (c *Cluster) each(ctx context.Context, objects []*unstructured.Unstructured, do func(context.Context, *unstructured.Unstructured) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, o := range objects {
		g.Go(func() error {
			if err := do(ctx, o); err != nil {
				return &fault.Error{What: "cannot install " + o.GetKind() + " " + o.GetName(), Err: c.because(err)}
			}
			return nil
		})
	}
	return g.Wait()
}

// put creates an object, or replaces the one that is there.
func put(ctx context.Context, resource dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	for {
		_, err := resource.Create(ctx, o, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		there, err := resource.Get(ctx, o.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		update := o.DeepCopy()
		update.SetResourceVersion(there.GetResourceVersion())
		if _, err = resource.Update(ctx, update, metav1.UpdateOptions{}); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
}

// because adds to the error of a request that the cluster itself is gone, if it is.
func (c *Cluster) because(err error) error {
	select {
	case <-c.conn.Ended():
		return errEnded(err)
	default:
		return err
	}
}

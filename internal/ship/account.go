package ship

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/report"
)

// Namespace is that of the kubeconfig.
func (c *Cluster) Namespace() string { return cmp.Or(c.namespace, metav1.NamespaceDefault) }

// Config is how the user connects to the cluster.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Reporting is the cluster with another handler for its events.
func (c *Cluster) Reporting(h report.Handler) *Cluster {
	other := *c
	other.handler = h
	return &other
}

// RequireAccount is an error unless the cluster has a ServiceAccount.
func (c *Cluster) RequireAccount(ctx context.Context, namespace, account string) error {
	_, err := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}).Namespace(namespace).Get(ctx, account, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &report.Error{What: "the cluster has no such ServiceAccount", Where: namespace + "/" + account,
			Hint: "deploy the operator's ServiceAccount and roles first, or create it", Next: "slipway kubectl -n " + namespace + " create serviceaccount " + account}
	}
	if err != nil {
		return c.explain(ctx, fmt.Errorf("look for ServiceAccount %s/%s: %w", namespace, account, err))
	}
	return nil
}

package ship

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	_, has, err := c.HasAccount(ctx, namespace, account)
	if err != nil || has {
		return err
	}
	return &report.Error{What: "the cluster has no such ServiceAccount", Where: namespace + "/" + account,
		Hint: "deploy the operator's ServiceAccount and roles first, or create it", Next: "slipway kubectl -n " + namespace + " create serviceaccount " + account}
}

// HasAccount reports whether the cluster has a ServiceAccount, and its UID, by which it differs from one of that name
// that was made later.
func (c *Cluster) HasAccount(ctx context.Context, namespace, account string) (id types.UID, has bool, err error) {
	live, err := c.objects.Resource(accountResource).Namespace(namespace).Get(ctx, account, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, c.explain(ctx, fmt.Errorf("look for ServiceAccount %s/%s: %w", namespace, account, err))
	}
	return live.GetUID(), true, nil
}

// accountResource is where ServiceAccounts live.
var accountResource = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}

// Running returns the Deployments and StatefulSets among objects that the cluster has with replicas, each like
// "-n NAMESPACE deployment/NAME".
func (c *Cluster) Running(ctx context.Context, objects []*unstructured.Unstructured) (running []string, err error) {
	d, err := c.PlanPause(ctx, slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !isScaled(o) }))
	if err != nil {
		return nil, err
	}
	for _, p := range d.Paused {
		running = append(running, "-n "+p.Namespace+" "+p.name())
	}
	return running, nil
}

// Denies reports whether the cluster's access rules refuse a user a request. A user who may not ask that learns
// nothing.
func (c *Cluster) Denies(ctx context.Context, user string, groups []string, request *authorizationv1.ResourceAttributes) (denied, known bool) {
	question, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"},
		Spec:     authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groups, ResourceAttributes: request},
	})
	if err != nil {
		return false, false
	}
	answer, err := c.quiet.Resource(authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews")).Create(ctx, &unstructured.Unstructured{Object: question}, metav1.CreateOptions{})
	if err != nil {
		return false, false
	}
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	return !allowed, true
}

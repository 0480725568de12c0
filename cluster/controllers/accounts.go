package controllers

import (
	"context"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	accounts "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

// Upstream: cmd/kube-controller-manager/app/service_accounts.go, core.go,
// certificates.go and rbac.go.

// newServiceAccount makes the service account "default" of every namespace.
func newServiceAccount(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("service-account-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := accounts.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), client,
		accounts.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// newServiceAccountToken fills Secrets of the type service-account-token.
func newServiceAccountToken(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("tokens-controller")
	if err != nil {
		return nil, err
	}
	generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, d.ServiceAccountKey)
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := accounts.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), client,
		accounts.TokensControllerOptions{TokenGenerator: generator, RootCA: d.RootCA})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

// newRootCAPublisher keeps the ConfigMap kube-root-ca.crt in every namespace.
func newRootCAPublisher(_ context.Context, d *Deps) (Loop, error) {
	client, err := d.client("root-ca-cert-publisher")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), client, d.RootCA)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func newClusterRoleAggregation(_ context.Context, d *Deps) (Loop, error) {
	client, err := d.client("clusterrole-aggregation-controller")
	if err != nil {
		return nil, err
	}
	c := clusterroleaggregation.NewClusterRoleAggregation(d.Informers.Rbac().V1().ClusterRoles(), client.RbacV1())
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

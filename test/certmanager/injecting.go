package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
)

// startInjecting starts what puts the authority of a Certificate into the objects whose annotation names it: webhook
// configurations, and the conversion of CRDs.
func startInjecting(ctx context.Context, group *errgroup.Group, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	config.UserAgent = "cert-manager-cainjector" // names the owner of the fields
	types, err := newScheme()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  types,
		Metrics: metricsserver.Options{BindAddress: "0"},
		// The injector watches Secrets' metadata only, and reads those that it needs.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.CustomResourceDefinitionName:       true,
		},
	})
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	group.Go(func() error { return manager.Start(ctx) })
	return nil
}

// newScheme knows the kinds that cert-manager's objects and the injected ones are of.
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(s), apiextensionsv1.AddToScheme(s), certmanagerv1.AddToScheme(s))
	if err != nil {
		return nil, fmt.Errorf("gather kinds: %w", err)
	}
	return s, nil
}

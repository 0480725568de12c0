// Command cainjector puts the authority of a Certificate into the objects whose annotation names it: webhook
// configurations, aggregated APIs, and the conversion of CRDs. It takes the flags that cert-manager's chart gives.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// leaseName is the one that the chart's role permits.
const leaseName = "cert-manager-cainjector-leader-election"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cainjector:", err)
		os.Exit(1)
	}
}

// run injects while it leads, until ctx ends.
func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("cainjector", pflag.ContinueOnError)
	leases := flags.String("leader-election-namespace", "kube-system", "namespace of the leader's lease")
	logging := logsapi.NewLoggingConfiguration()
	logf.AddFlags(logging, flags)
	if err := errors.Join(flags.Parse(args), logf.ValidateAndApply(logging)); err != nil {
		return err
	}
	ctrl.SetLogger(logf.Log)
	manager, err := newManager(*leases)
	if err != nil {
		return err
	}
	err = cainjector.RegisterAllInjectors(logf.NewContext(ctx, logf.Log), manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName:                     true,
			cainjector.CustomResourceDefinitionName:       true,
		},
	})
	if err != nil {
		return fmt.Errorf("register the injectors: %w", err)
	}
	return manager.Start(ctx)
}

func newManager(leases string) (ctrl.Manager, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.UserAgent = "cert-manager-cainjector" // names the owner of the fields
	types := runtime.NewScheme()
	err = errors.Join(clientgoscheme.AddToScheme(types), apiextensionsv1.AddToScheme(types), apiregistrationv1.AddToScheme(types),
		certmanagerv1.AddToScheme(types))
	if err != nil {
		return nil, fmt.Errorf("gather kinds: %w", err)
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:                        types,
		LeaderElection:                true,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       leases,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: metricsAddress()},
		// The injector watches Secrets' metadata only, and reads those that it needs.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
}

// metricsAddress is the chart's. Pods that are plain processes, which a kubeconfig tells, share the machine's ports:
// there the webhook has this one.
func metricsAddress() string {
	if os.Getenv("KUBECONFIG") != "" {
		return "0"
	}
	return ":9402"
}

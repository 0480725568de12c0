// Command certmanager runs cert-manager's own controllers as a process of this machine, against the cluster of a
// kubeconfig: those that keep Certificates, with the issuers that need nobody else (self-signed, and an authority whose key
// is in a Secret), and the injector, which tells the API server the authority behind a webhook.
//
// cert-manager publishes its packages, not the modules of its commands; so they are put together here, as its commands
// do it, for clusters in which no container runs:
//
//	slipway kubectl apply --server-side -f "$(go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)/deploy/crds"
//	go run .
//
// Left out are its webhook, which refuses Certificates that cannot be right, ACME, Vault and the other services that
// issue, ingresses and gateways.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("certmanager", flag.ExitOnError) // flag.CommandLine has controller-runtime's -kubeconfig
	kubeconfig := flags.String("kubeconfig", cmp.Or(os.Getenv("KUBECONFIG"), clientcmd.RecommendedHomeFile), "file that says where the cluster is, and who one is there")
	_ = flags.Parse(os.Args[1:])
	if err := run(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "certmanager:", err)
		os.Exit(1)
	}
}

// run runs all controllers until ctx ends or one of them fails.
func run(ctx context.Context, kubeconfig string) error {
	log := klog.Background()
	ctrl.SetLogger(log)
	controllers, ctx := errgroup.WithContext(logf.NewContext(ctx, log))
	if err := startIssuing(ctx, controllers, kubeconfig); err != nil {
		return fmt.Errorf("start to issue: %w", err)
	}
	if err := startInjecting(ctx, controllers, kubeconfig); err != nil {
		return fmt.Errorf("start to inject: %w", err)
	}
	return controllers.Wait()
}

// Command controller keeps Certificates, with the issuers that need no other party: self-signed, and an authority whose
// key is in a Secret. It takes the flags that cert-manager's chart gives.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cert-manager/cert-manager/pkg/healthz"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// options are what the chart says.
type options struct {
	clusterNamespace string // of the Secrets of issuers for all namespaces
	leaseNamespace   string
	solverImage      string // for ACME, which is left out
	challenges       int
	logging          *logsapi.LoggingConfiguration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "controller:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	o := options{logging: logsapi.NewLoggingConfiguration()}
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	flags.StringVar(&o.clusterNamespace, "cluster-resource-namespace", "kube-system", "namespace of what belongs to cluster-wide issuers")
	flags.StringVar(&o.leaseNamespace, "leader-election-namespace", "kube-system", "namespace of the leader's lease")
	flags.StringVar(&o.solverImage, "acme-http01-solver-image", "", "not used")
	flags.IntVar(&o.challenges, "max-concurrent-challenges", 0, "not used")
	logf.AddFlags(o.logging, flags)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	return o, logf.ValidateAndApply(o.logging)
}

// run answers probes, and keeps Certificates while it leads.
func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	registerLeftOut()
	probes, err := net.Listen("tcp", ":9403")
	if err != nil {
		return fmt.Errorf("listen for probes: %w", err)
	}
	group, ctx := errgroup.WithContext(logf.NewContext(ctx, logf.Log))
	health := healthz.NewServer(20 * time.Second)
	group.Go(func() error { return health.Start(ctx, probes) })
	group.Go(func() error { return lead(ctx, o, health.LeaderHealthzAdaptor) })
	return group.Wait()
}

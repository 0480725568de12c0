// Command webhook is cert-manager's: it refuses Certificates and requests that cannot be right, and says in requests
// who made them. It keeps the certificate that it serves with by itself. It takes the flags that cert-manager's chart
// gives.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "webhook:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string) error {
	configuration, err := options.NewWebhookConfiguration()
	if err != nil {
		return fmt.Errorf("make the configuration: %w", err)
	}
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	options.AddConfigFlags(flags, configuration)
	if err := errors.Join(flags.Parse(args), logf.ValidateAndApply(&configuration.Logging)); err != nil {
		return err
	}
	if configuration.KubeConfig == "" {
		configuration.KubeConfig = os.Getenv("KUBECONFIG") // of pods that are plain processes
	}
	server, err := webhook.NewCertManagerWebhookServer(logf.Log, *configuration)
	if err != nil {
		return fmt.Errorf("make the server: %w", err)
	}
	return server.Run(logf.NewContext(ctx, logf.Log))
}

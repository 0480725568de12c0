package clustertest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/manifest"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/serving"
)

// WebhookOptions returns where the cluster expects the webhook server, for [webhook.NewServer]: address,
// port and certificate. The port is the cluster's own, also among tests that run in parallel, and the
// webhooks that [Cluster.InstallWebhooks] and [Cluster.InstallCRDs] install trust the certificate.
func (c *Cluster) WebhookOptions() webhook.Options {
	return webhook.Options{Host: serving.Host, Port: c.webhook.Port, CertDir: c.webhook.Dir}
}

// WaitForWebhooks waits until the webhook server answers.
func (c *Cluster) WaitForWebhooks(t testing.TB) {
	t.Helper()
	if err := c.WaitForWebhooksContext(t.Context()); err != nil {
		fatal(t, err)
	}
}

// WaitForWebhooksContext is [Cluster.WaitForWebhooks] without a test.
func (c *Cluster) WaitForWebhooksContext(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.webhook.CA)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots}}
	var last error
	err := until(ctx, func(ctx context.Context) (bool, error) {
		conn, err := dialer.DialContext(ctx, "tcp", c.webhook.Address())
		if err != nil {
			last = err
			return false, nil
		}
		return true, conn.Close()
	})
	if err != nil && last != nil {
		err = fmt.Errorf("%w: %w", err, last)
	}
	if err != nil {
		return &fault.Error{What: "the webhook server does not answer", Where: c.webhook.Address(), Err: err,
			Hint: "start a manager with webhook.NewServer(cluster.WebhookOptions()) as its WebhookServer and at least one webhook"}
	}
	return nil
}

// server returns where webhooks are to call.
func (c *Cluster) server() manifest.Server {
	return manifest.Server{URL: "https://" + c.webhook.Address(), CA: c.webhook.CA}
}

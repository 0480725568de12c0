package clustertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/audit"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/find"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/serving"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/session"
)

// Error is a failure with all that its reader needs: what is wrong, where, why, and which command
// to type next. Its cause is to be had with [errors.Is] and [errors.As].
type Error = fault.Error

// Cluster is a running cluster. Its methods may be called by several goroutines.
type Cluster struct {
	program
	settings settings
	reached  protocol.Cluster
	config   *rest.Config
	dynamic  dynamic.Interface
	logical  string // its name among the program's clusters; empty for the first
	webhook  *serving.Place
	audit    audit.Log
	end      func() error // stops it
	once     sync.Once
}

// Start starts a cluster for t and its subtests; it is stopped when they are done. When it
// cannot be started, t fails with the reason.
func Start(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	c, err := StartContext(t.Context(), options...)
	if err != nil {
		fatal(t, err)
	}
	c.closeWith(t)
	return c
}

// StartContext is [Start] without a test: for suites of other frameworks, and for programs.
// [Cluster.Close] stops the cluster; ctx bounds its start alone.
func StartContext(ctx context.Context, options ...Option) (*Cluster, error) {
	s := newSettings(options)
	if socket := os.Getenv(sharedVariable); socket != "" && s.sharable() {
		return join(ctx, socket, s)
	}
	path, err := find.Program(ctx, os.Getenv, os.Stderr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	c, err := s.begin(func(f protocol.Spec) (*Cluster, error) {
		running, reached, err := session.Start(ctx, path, f)
		if err != nil {
			return nil, err
		}
		return &Cluster{program: program{conn: running.Conn, dir: running.Dir}, settings: s, reached: reached, end: running.Close}, nil
	})
	if err != nil {
		return nil, err
	}
	return c.prepared(ctx)
}

// prepared returns c with all that its settings ask for, or closes it.
func (c *Cluster) prepared(ctx context.Context) (*Cluster, error) {
	err := c.connect()
	if err == nil {
		c.webhook, err = serving.New(filepath.Join(c.dir, "webhook", c.logical))
	}
	if err == nil {
		err = c.install(ctx)
	}
	if err == nil && c.settings.installs() {
		err = c.KeepContext(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// connect makes the clients.
func (c *Cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.reached.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // no limit: there is nobody else to be fair to
	config.WarningHandler = rest.NoWarnings{}
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = nil // warnings about the user's own requests are for the user
	c.config = config
	return nil
}

// install installs what the settings name.
func (c *Cluster) install(ctx context.Context) error {
	if err := c.installDependencies(ctx); err != nil {
		return err
	}
	if len(c.settings.crds) > 0 {
		if err := c.InstallCRDsContext(ctx, c.settings.crds...); err != nil {
			return err
		}
	}
	if len(c.settings.webhooks) > 0 {
		return c.InstallWebhooksContext(ctx, c.settings.webhooks...)
	}
	return nil
}

// Config returns how to reach the cluster as its administrator. Each call returns a copy,
// which may be changed: set Impersonate to test permissions. Requests are not limited in number.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig returns the path of the administrator's kubeconfig, which goes with the cluster.
func (c *Cluster) Kubeconfig() string { return c.reached.Kubeconfig }

// Client returns a client that reads and writes without a cache, with the types of [Scheme].
func (c *Cluster) Client(t testing.TB) client.Client {
	t.Helper()
	cl, err := client.New(c.Config(), client.Options{Scheme: c.settings.scheme})
	if err != nil {
		fatal(t, err)
	}
	return cl
}

// Close stops the cluster and removes its data. It reports a cluster that had died
// before. Those of [Start] and [Cluster.Isolated] are closed by themselves.
func (c *Cluster) Close() (err error) {
	c.once.Do(func() {
		if c.webhook != nil {
			err = c.webhook.Close()
		}
		err = errors.Join(err, c.end())
	})
	return err
}

// closeWith closes the cluster at the end of t.
func (c *Cluster) closeWith(t testing.TB) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("clustertest: %s", fault.Text(err))
		}
	})
}

// fatal ends t with err.
func fatal(t testing.TB, err error) {
	t.Helper()
	t.Fatalf("clustertest: %s", fault.Text(err))
}

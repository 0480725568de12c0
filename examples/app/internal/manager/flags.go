// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

// Package manager turns the command line into the options of the operator's manager:
// its metrics, webhooks, health probes, leader election and log.
package manager

import (
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// leaderElectionID names the Lease on which replicas agree.
const leaderElectionID = "f1dcc2e5.baiding.tech"

// reconcileTimeout ends the context of a call of Reconcile, so that one that hangs does not hold its worker for good.
const reconcileTimeout = 2 * time.Minute

// Flags are what the command line says.
type Flags struct {
	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	webhookHost    string
	webhookPort    int
	webhookCertDir string
	probeAddress   string
	pprofAddress   string
	leaderElection bool
	warmUp         bool
	log            zap.Options

	draining atomic.Bool // see Drain
}

// Bind adds the flags to fs.
func (f *Flags) Bind(fs *flag.FlagSet) {
	fs.StringVar(&f.metricsAddress, "metrics-bind-address", "0", "address of the metrics endpoint, such as :8443; 0 turns it off")
	fs.BoolVar(&f.metricsSecure, "metrics-secure", true, "serve metrics over HTTPS, to those who may read them")
	fs.StringVar(&f.metricsCertDir, "metrics-cert-path", "", "folder with tls.crt and tls.key for metrics; self-signed without it")
	fs.StringVar(&f.webhookHost, "webhook-host", "", "address at which webhooks are served; all without it")
	fs.IntVar(&f.webhookPort, "webhook-port", 9443, "port of the webhooks")
	fs.StringVar(&f.webhookCertDir, "webhook-cert-path", "", "folder with tls.crt and tls.key for webhooks; k8s-webhook-server/serving-certs in the folder for temporary files without it")
	fs.StringVar(&f.probeAddress, "health-probe-bind-address", ":8081", "address of the health probes")
	fs.StringVar(&f.pprofAddress, "pprof-bind-address", "0", "address of profiles, such as 127.0.0.1:6060; keep it on loopback, since readers need no permission; 0 turns it off")
	fs.BoolVar(&f.leaderElection, "leader-elect", false, "let one replica work at a time")
	fs.BoolVar(&f.warmUp, "warm-up", false, "fill the caches of replicas that wait, so that they take over at once")
	f.log.Development = os.Getenv("KUBERNETES_SERVICE_HOST") == "" // a pod's log is JSON, for programs that collect it
	f.log.BindFlags(fs)
}

// Logger is the log that the flags ask for.
func (f *Flags) Logger() logr.Logger { return zap.New(zap.UseFlagOptions(&f.log)) }

// Options are those of a manager that knows the kinds of scheme.
func (f *Flags) Options(scheme *runtime.Scheme) (ctrl.Options, error) {
	namespaces, err := watched()
	return ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{DefaultNamespaces: namespaces, DefaultTransform: cache.TransformStripManagedFields()},
		Client:                 client.Options{Cache: readYourWrites(len(namespaces) <= 1)},
		Controller:             config.Controller{ReconciliationTimeout: reconcileTimeout, EnableWarmup: &f.warmUp},
		Metrics:                f.metrics(),
		WebhookServer:          f.webhooks(),
		HealthProbeBindAddress: f.probeAddress,
		PprofBindAddress:       f.pprofAddress,
		LeaderElection:         f.leaderElection,
		LeaderElectionID:       leaderElectionID,
		// The process ends with the manager, so another replica may lead at once.
		LeaderElectionReleaseOnCancel: true,
		// With the time to drain it is less than terminationGracePeriodSeconds in config/manager/manager.yaml.
		GracefulShutdownTimeout: new(20 * time.Second),
	}, err
}

// readYourWrites has reads from the cache wait until it shows what the manager's client has written. For that the
// manager needs the verbs list and watch, too, of each kind that it writes. Several listed namespaces rule it out.
func readYourWrites(on bool) *client.CacheOptions {
	return &client.CacheOptions{EnableReadYourWritesConsistency: &on}
}

// watched are the namespaces that the variable WATCH_NAMESPACE lists, with commas between them; all
// if it is unset or empty.
func watched() (map[string]cache.Config, error) {
	list := os.Getenv("WATCH_NAMESPACE")
	if list == "" {
		return nil, nil
	}
	namespaces := map[string]cache.Config{}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" { // an empty name stands for all namespaces
			namespaces[name] = cache.Config{}
		}
	}
	if len(namespaces) == 0 {
		return nil, fmt.Errorf("WATCH_NAMESPACE=%q lists no namespace; unset it to watch all", list)
	}
	return namespaces, nil
}

func (f *Flags) webhooks() webhook.Server {
	return server{
		Server: webhook.NewServer(webhook.Options{Host: f.webhookHost, Port: f.webhookPort, TLSOpts: tlsOptions(f.webhookCertDir)}),
		ending: &f.draining,
	}
}

func (f *Flags) metrics() metricsserver.Options {
	options := metricsserver.Options{
		BindAddress:   f.metricsAddress,
		SecureServing: f.metricsSecure,
		TLSOpts:       tlsOptions(f.metricsCertDir),
	}
	if f.metricsSecure {
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}

// tlsOptions are those of a server whose certificate is in dir, where it may come later and change. While its two files
// do not fit, since one of them has changed before the other, the last certificate is served.
func tlsOptions(dir string) []func(*tls.Config) {
	return []func(*tls.Config){func(c *tls.Config) {
		// HTTP/2 stays off: its rapid reset attack exhausts servers (CVE-2023-44487).
		c.NextProtos = []string{"http/1.1"}
		if dir == "" {
			return
		}
		var last atomic.Pointer[tls.Certificate]
		c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
			switch good := last.Load(); {
			case err == nil:
				last.Store(&pair)
				return &pair, nil
			case good != nil:
				return good, nil
			}
			return nil, err
		}
	}}
}

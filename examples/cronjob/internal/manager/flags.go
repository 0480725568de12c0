// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package manager turns the command line into the options of the operator's manager:
// its metrics, health probes, leader election and log.
package manager

import (
	"crypto/tls"
	"flag"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// leaderElectionID names the Lease on which replicas agree.
const leaderElectionID = "460706a4.tutorial.kubebuilder.io"

// Flags are what the command line says.
type Flags struct {
	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	probeAddress   string
	leaderElection bool
	log            zap.Options
}

// Bind adds the flags to fs.
func (f *Flags) Bind(fs *flag.FlagSet) {
	fs.StringVar(&f.metricsAddress, "metrics-bind-address", "0", "address of the metrics endpoint, such as :8443; 0 turns it off")
	fs.BoolVar(&f.metricsSecure, "metrics-secure", true, "serve metrics over HTTPS, to those who may read them")
	fs.StringVar(&f.metricsCertDir, "metrics-cert-path", "", "folder with tls.crt and tls.key for metrics; self-signed without it")
	fs.StringVar(&f.probeAddress, "health-probe-bind-address", ":8081", "address of the health probes")
	fs.BoolVar(&f.leaderElection, "leader-elect", false, "let one replica work at a time")
	f.log.Development = true
	f.log.BindFlags(fs)
}

// Logger is the log that the flags ask for.
func (f *Flags) Logger() logr.Logger { return zap.New(zap.UseFlagOptions(&f.log)) }

// Options are those of a manager that knows the kinds of scheme.
func (f *Flags) Options(scheme *runtime.Scheme) ctrl.Options {
	return ctrl.Options{
		Scheme:                 scheme,
		Metrics:                f.metrics(),
		HealthProbeBindAddress: f.probeAddress,
		LeaderElection:         f.leaderElection,
		LeaderElectionID:       leaderElectionID,
	}
}

func (f *Flags) metrics() metricsserver.Options {
	options := metricsserver.Options{
		BindAddress:   f.metricsAddress,
		SecureServing: f.metricsSecure,
		CertDir:       f.metricsCertDir,
		// HTTP/2 stays off: its rapid reset attack exhausts servers (CVE-2023-44487).
		TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }},
	}
	if f.metricsSecure {
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}

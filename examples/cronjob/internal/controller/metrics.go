// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// A goober is an attempt to start a run that is due. These metrics are served with controller-runtime's own, at
// /metrics.
var (
	goobers = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "goobers_total",
		Help: "Number of attempts to start a run that was due.",
	})
	gooberFailures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "goober_failures_total",
		Help: "Number of those attempts that failed.",
	})
)

func init() {
	metrics.Registry.MustRegister(goobers, gooberFailures)
}

// countRun counts an attempt to start a run. One that another pass has started is that pass's.
func countRun(started bool, err error) {
	if started || err != nil {
		goobers.Inc()
	}
	if err != nil {
		gooberFailures.Inc()
	}
}

// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Drain returns the context of the manager. It ends later than signal by what WEBHOOK_DRAIN says, such as 5s: new
// requests come until the API server's node knows that this pod is ending. Without the variable it ends with signal.
func (f *Flags) Drain(signal context.Context) context.Context {
	value := os.Getenv("WEBHOOK_DRAIN")
	if value == "" {
		return signal
	}
	delay, err := time.ParseDuration(value)
	if err != nil {
		ctrl.Log.Error(err, "WEBHOOK_DRAIN is no duration, so webhooks end without a delay")
		return signal
	}
	ctx, end := context.WithCancel(context.WithoutCancel(signal))
	context.AfterFunc(signal, func() {
		f.draining.Store(true)
		time.AfterFunc(delay, end)
	})
	return ctx
}

// A server closes the connection after each request while the manager is ending: a request that came on a
// connection which the server closes at that moment would be lost.
type server struct {
	webhook.Server
	ending *atomic.Bool
}

// Register serves hook at path.
func (s server) Register(path string, hook http.Handler) {
	s.Server.Register(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		hook.ServeHTTP(w, r)
	}))
}

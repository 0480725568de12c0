package clustertest

import (
	"context"
	"errors"
	"testing"
)

// Runnable is what [Run] runs: a [sigs.k8s.io/controller-runtime/pkg/manager.Manager], or any part of one.
type Runnable interface {
	// Start works until ctx ends.
	Start(ctx context.Context) error
}

// Run runs a manager in the background, and ends it with t, before what was made earlier in t is
// cleaned up. When it fails, so does t.
func Run(t testing.TB, r Runnable) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- r.Start(ctx) }()
	t.Cleanup(func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("clustertest: the manager failed: %v", err)
		}
	})
}

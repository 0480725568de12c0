package clustertest

import (
	"context"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// Reset makes the cluster what it was when it was started, in some milliseconds: all that was made since is gone,
// finalizers or not, and all that was changed or deleted is back. What [CRDs] and [Webhooks] install stays. After
// [Cluster.Keep] it leads back to what was kept.
//
// Tests that run in parallel on one cluster do not reset it: they use namespaces, or clusters of their own
// ([Cluster.Isolated]). Stop managers before; their caches see every object vanish.
func (c *Cluster) Reset(t testing.TB) {
	t.Helper()
	if err := c.ResetContext(t.Context()); err != nil {
		fatal(t, err)
	}
}

// ResetContext is [Cluster.Reset] without a test.
func (c *Cluster) ResetContext(ctx context.Context) error {
	if err := c.conn.Call(ctx, "reset", protocol.Reset{Logical: c.logical}, nil); err != nil {
		return &fault.Error{What: "the cluster cannot be reset", Err: err}
	}
	return nil
}

// Keep has [Cluster.Reset] lead back to what the cluster holds now: what was installed or made after its start, too. It
// waits until what was begun is finished; what other programs write all the time must be stopped before.
func (c *Cluster) Keep(t testing.TB) {
	t.Helper()
	if err := c.KeepContext(t.Context()); err != nil {
		fatal(t, err)
	}
}

// KeepContext is [Cluster.Keep] without a test.
func (c *Cluster) KeepContext(ctx context.Context) error {
	if err := c.conn.Call(ctx, "keep", protocol.Keep{Logical: c.logical}, nil); err != nil {
		return &fault.Error{What: "the cluster's state cannot be kept", Err: err}
	}
	return nil
}

package engine

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/rollback"
)

// TestAwaitOfWhatIsNotSoAnyMore: what another program has deleted, or made anew, in the middle of a reset will never be
// as everybody is waited for to see it. What is as it was written is waited for as long as there is time.
func TestAwaitOfWhatIsNotSoAnyMore(t *testing.T) {
	store, err := etcd.Start(t.Context(), etcd.Config{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Stop()
	if err := store.Write(t.Context(), []etcd.Pair{{Key: []byte("/there")}}); err != nil {
		t.Fatal(err)
	}
	c := &Cluster{store: store}
	never := func() (bool, error) { return false, nil }
	for key, is := range map[string]bool{"/there": true, "/gone": false} {
		for _, wanted := range []bool{true, false} {
			ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
			if is == wanted {
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
			}
			err := c.await(ctx, rollback.Changed{Object: baseline.Object{Key: []byte(key)}}, wanted, never)
			cancel()
			if waited := errors.Is(err, context.DeadlineExceeded); waited != (is == wanted) {
				t.Errorf("%s, wanted there %v: %v", key, wanted, err)
			}
		}
	}
}

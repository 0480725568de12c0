package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/seed"
	"github.com/slipway-dev/slipway/cluster/version"
)

const (
	// settled is how long a fresh API server must write nothing to count as complete.
	// It renews its own lease every ten seconds.
	settled = 3 * time.Second
	prefix  = "/registry/"
	// seedPort is the API server's port while the seed is recorded: it is part of the
	// Service default/kubernetes, as its target port.
	seedPort = 6443
)

// RecordSeed starts an empty cluster in a temporary folder, with every start-up hook on
// and controllers, since they complete roles that are made of others, and returns what it wrote
// by itself.
func RecordSeed(ctx context.Context, stderr io.Writer) (recorded seed.Seed, err error) {
	dir, err := os.MkdirTemp("", "slipway-seed-")
	if err != nil {
		return seed.Seed{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	directKlog("ERROR", stderr)
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	started := time.Now()
	host, err := engine.Start(ctx, engine.Options{
		Dir: dir, Main: engine.Spec{Name: "seed", Port: seedPort, Unseeded: true, Controllers: true},
		Logger: func(string) *slog.Logger { return log },
	})
	if err != nil {
		return seed.Seed{}, fmt.Errorf("start an empty cluster: %w", err)
	}
	defer host.Stop()
	snapshot, err := settle(ctx, host.Store())
	if err != nil {
		return seed.Seed{}, err
	}
	return seed.Normalize(version.Kubernetes, snapshot.Pairs, prefix[:len(prefix)-1], started), nil
}

// settle waits until nothing is written any more.
func settle(ctx context.Context, store *etcd.Server) (etcd.Snapshot, error) {
	before, err := store.Read(ctx, prefix)
	for err == nil {
		select {
		case <-ctx.Done():
			return etcd.Snapshot{}, context.Cause(ctx)
		case <-time.After(settled):
		}
		var after etcd.Snapshot
		if after, err = store.Read(ctx, prefix); err == nil && after.Revision == before.Revision {
			return after, nil
		}
		before = after
	}
	if ctx.Err() != nil { // a read says only that it was canceled
		err = context.Cause(ctx)
	}
	return etcd.Snapshot{}, err
}

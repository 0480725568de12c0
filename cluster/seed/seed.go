// Package seed holds what a fresh cluster writes into its store by itself: the
// bootstrap roles and bindings, the priority classes, the flow schemas, the API
// services, the system namespaces and the allocations of the Service
// default/kubernetes.
//
// The API server writes these with start-up hooks, two of which sleep for a second.
// Instead they are recorded once per Kubernetes version and put straight into
// etcd, which takes milliseconds:
//
//	recorded, err := seed.Load()
//	err = recorded.Write(ctx, store, "/registry")
//
// A seed holds nothing of the cluster it was recorded from: no authority, certificate
// or address, and its UIDs and times are placeholders ([Normalize]) which Write
// replaces, so that no two clusters share the UID of kube-system. It is a file
// of this package, made by `slipway-cluster seed` from a run with all hooks and controllers on.
package seed

import (
	"bytes"
	"context"
	_ "embed" // the recorded seed
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

//go:generate go run ../cmd/slipway-cluster seed --output seed.gz

//go:embed seed.gz
var recorded []byte

// A Seed is the initial content of one Kubernetes version's store.
type Seed struct {
	Kubernetes string      // the version that it was recorded from
	Pairs      []etcd.Pair // keys without the store's prefix, sorted
}

// Load reads the seed that is part of this program.
func Load() (Seed, error) {
	s, err := Decode(bytes.NewReader(recorded))
	if err != nil {
		return Seed{}, fmt.Errorf("read the embedded seed: %w", err)
	}
	return s, nil
}

// A Writer stores pairs in one transaction; [etcd.Server] is one.
type Writer interface {
	Write(ctx context.Context, pairs []etcd.Pair) error
}

// Write puts the seed below prefix, with fresh UIDs and the current time.
func (s Seed) Write(ctx context.Context, w Writer, prefix string) error {
	fresh := newReplacement(time.Now())
	pairs := make([]etcd.Pair, len(s.Pairs))
	for i, p := range s.Pairs {
		pairs[i] = etcd.Pair{Key: append([]byte(prefix), p.Key...), Value: fresh.apply(p.Value)}
	}
	return w.Write(ctx, pairs)
}

// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

// Package member keeps the members of the fleet engaged: fleet.go knows which there should be, member.go is the life of
// one, connection.go how it is reached, and problem.go what can be wrong with it.
package member

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// Connection is how a member is reached, and what it is known by.
type Connection struct {
	Config *rest.Config
	Labels labels.Set

	// Version differs whenever the member is to be engaged anew.
	Version string
}

// State is what is known of a member. The zero State is that of a member which was not reached yet.
type State struct {
	Engaged   bool
	Instances int64    // of the kind, while it is engaged
	Problem   *Problem // why it is not engaged
}

// Options are those of a Fleet.
type Options struct {
	Scheme *runtime.Scheme
	Kind   client.Object // what is kept in the members' caches
	Notify func(context.Context, multicluster.ClusterName)

	Probe    time.Duration // between two looks at a member that answers
	Timeout  time.Duration // of one look, and of filling a cache
	RetryMin time.Duration // after the first failure; each further one doubles it
	RetryMax time.Duration
}

// Fleet is the provider of the members for multicluster-runtime. It calls Notify when a member's state changes.
type Fleet struct {
	options Options
	running sync.WaitGroup

	mu      sync.Mutex
	ctx     context.Context // that of Start, nil before
	aware   multicluster.Aware
	members map[multicluster.ClusterName]*member
	indexes []index
}

// index is what IndexField was called with.
type index struct {
	object  client.Object
	field   string
	extract client.IndexerFunc
}

var (
	_ multicluster.Provider         = (*Fleet)(nil)
	_ multicluster.ProviderRunnable = (*Fleet)(nil)
)

// NewFleet returns a fleet without members.
func NewFleet(options Options) *Fleet {
	return &Fleet{options: options, members: map[multicluster.ClusterName]*member{}}
}

// Start engages the members with aware until ctx ends.
func (f *Fleet) Start(ctx context.Context, aware multicluster.Aware) error {
	f.mu.Lock()
	f.ctx, f.aware = ctx, aware
	for _, m := range f.members {
		f.launch(m)
	}
	f.mu.Unlock()
	<-ctx.Done()
	f.mu.Lock() // after a launch that has begun; no more begin
	clear(f.members)
	f.mu.Unlock()
	f.running.Wait()
	return nil
}

// Keep has a member engaged by a connection, in the background, and returns what is known of it. It may be called at
// any time with the same connection; another Version replaces the member. Only the last call counts.
func (f *Fleet) Keep(name multicluster.ClusterName, connection Connection) State {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.members[name]
	if m == nil || m.connection.Version != connection.Version {
		f.drop(name)
		m = &member{name: name, connection: connection, options: f.options, poke: make(chan struct{}, 1)}
		f.members[name] = m
		f.launch(m)
	}
	return m.current()
}

// Drop ends what runs for a member. It does not wait for the end.
func (f *Fleet) Drop(name multicluster.ClusterName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(name)
}

func (f *Fleet) drop(name multicluster.ClusterName) {
	if m := f.members[name]; m != nil && m.end != nil {
		m.end()
	}
	delete(f.members, name)
}

// launch runs a member between Start and the end of its context. The lock is held.
func (f *Fleet) launch(m *member) {
	if f.ctx == nil || f.ctx.Err() != nil {
		return
	}
	ctx, end := context.WithCancel(f.ctx)
	m.end, m.aware, m.indexes = end, f.aware, f.indexes
	f.running.Go(func() { m.run(ctx) })
}

// Get returns the cluster of an engaged member.
func (f *Fleet) Get(_ context.Context, name multicluster.ClusterName) (cluster.Cluster, error) {
	f.mu.Lock()
	m := f.members[name]
	f.mu.Unlock()
	if m != nil {
		if cl := m.engaged(); cl != nil {
			return cl, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", name, multicluster.ErrClusterNotFound)
}

// Labels returns the labels of a member.
func (f *Fleet) Labels(name multicluster.ClusterName) labels.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.members[name]; m != nil {
		return m.connection.Labels
	}
	return nil
}

// IndexField has the members that are engaged later index a field. Set indexes up before the manager starts.
func (f *Fleet) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx != nil {
		return fmt.Errorf("index %s: the members are engaged already", field)
	}
	f.indexes = append(f.indexes, index{object, field, extract})
	return nil
}

// listOf returns an empty list of the metadata of a kind.
func listOf(kind metav1.GroupVersionKind) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.APIVersion = metav1.GroupVersion{Group: kind.Group, Version: kind.Version}.String()
	list.Kind = kind.Kind + "List"
	return list
}

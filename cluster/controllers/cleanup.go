package controllers

import (
	"context"
	"time"

	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// Upstream: cmd/kube-controller-manager/app/core.go.

const (
	collectorWorkers  = 20
	collectorSyncWait = 30 * time.Second
	// collectorPeriod lies between two syncs with discovery, and bounds each. Upstream
	// has 30 seconds, which makes a test that relies on owner references wait that
	// long; here [changedDiscovery] holds a sync back until there is something new.
	collectorPeriod = 500 * time.Millisecond
)

func newGarbageCollector(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("generic-garbage-collector")
	if err != nil {
		return nil, err
	}
	d.graph = garbagecollector.NewDependencyGraphBuilder(ctx, d.metadata, d.Mapper, garbagecollector.DefaultIgnoredResources(), d.Generic, d.Started)
	c, err := garbagecollector.NewComposedGarbageCollector(ctx, client, solidOwners{d.metadata, d.Mapper}, d.Mapper, d.graph)
	if err != nil {
		return nil, err
	}
	changes, err := newChangedDiscovery(d, client.Discovery())
	if err != nil {
		return nil, err
	}
	return together(
		func(ctx context.Context) { c.Run(ctx, collectorWorkers, collectorSyncWait) },
		func(ctx context.Context) { c.Sync(ctx, changes, collectorPeriod) },
	), nil
}

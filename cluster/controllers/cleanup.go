package controllers

import (
	"context"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
)

// Upstream: cmd/kube-controller-manager/app/core.go.

const (
	collectorWorkers  = 20
	collectorSyncWait = 30 * time.Second
	// collectorPeriod lies between two syncs with discovery, and bounds each. Upstream
	// has 30 seconds, which makes a test that relies on owner references wait that
	// long; here [changedDiscovery] holds a sync back until there is something new.
	collectorPeriod = 500 * time.Millisecond

	terminatedPodThreshold = 12500
)

func newGarbageCollector(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("generic-garbage-collector")
	if err != nil {
		return nil, err
	}
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, d.metadata, d.Mapper, garbagecollector.DefaultIgnoredResources(), d.Generic, d.Started)
	c, err := garbagecollector.NewComposedGarbageCollector(ctx, client, d.metadata, d.Mapper, graph)
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

func newPodGarbageCollector(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("pod-garbage-collector")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	return podgc.NewPodGC(ctx, client, core.Pods(), core.Nodes(), terminatedPodThreshold).Run, nil
}

// newClaimProtection keeps a PersistentVolumeClaim while a pod uses it.
func newClaimProtection(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("pvc-protection-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

package controllers

import (
	"context"
	"time"

	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
)

// Upstream: cmd/kube-controller-manager/app/core.go.

const (
	// A node that did not renew its lease for nodeGrace is lost. Upstream has 50 seconds, for
	// networks that drop packets and nodes that are busy; here the nodes, which renew every two seconds, are in this
	// process. A new Node has some more time for its first lease.
	nodeGrace        = 6 * time.Second
	nodeStartupGrace = 15 * time.Second
	nodeMonitor      = time.Second // upstream: 5 seconds

	// How many nodes per second are tainted for eviction. Upstream has one in ten seconds, for fear of
	// losing a large cluster; here several nodes are lost because somebody wants to see what happens then.
	evictionRate          = 10
	secondaryEvictionRate = 10

	// Upstream's defaults.
	largeCluster      = 50
	unhealthyFraction = 0.55
)

// newNodeLifecycle marks lost nodes and their pods as not ready, and taints the nodes.
func newNodeLifecycle(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("node-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := nodelifecycle.NewNodeLifecycleController(ctx, d.Informers.Coordination().V1().Leases(), core.Pods(), core.Nodes(),
		d.Informers.Apps().V1().DaemonSets(), client, nodeMonitor, nodeStartupGrace, nodeGrace,
		evictionRate, secondaryEvictionRate, largeCluster, unhealthyFraction)
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

// newTaintEviction deletes pods that do not tolerate their node's taints.
func newTaintEviction(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("node-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := tainteviction.New(ctx, client, core.Pods(), core.Nodes(), "taint-eviction-controller")
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

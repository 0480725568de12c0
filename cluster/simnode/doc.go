// Package simnode simulates the nodes of a cluster: Nodes that are Ready, hold their leases and send heartbeats, and on
// which pods run without containers.
//
// [Run] registers the nodes that its specs describe and returns once they are Ready and schedulable:
//
//	nodes, err := simnode.Run(ctx, config, simnode.Options{Specs: node.Default(), Log: log})
//	if err != nil { … }
//	defer nodes.Stop()
//
// From then on every pod that is bound to one of them passes through the stages of a pod's life, as package
// [github.com/slipway-dev/slipway/cluster/simnode/stage] computes them: it gets an address of its node's range, runs,
// becomes ready, succeeds when it is one of a Job, and ends at once when it is deleted. The API server shows what it
// would show with a kubelet: the same fields, conditions and reasons, written by the same kind of patch.
//
// The state of a cluster is what its API server says. Nodes that are run again over an old cluster keep their
// pod ranges, and pods go on from the status they have.
//
// Thousands of pods need no goroutine each: one queue wakes a pod when its next stage is due. Package
// [github.com/slipway-dev/slipway/cluster/node] has what nodes of both kinds share.
package simnode

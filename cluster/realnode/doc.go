// Package realnode runs the nodes of a cluster for real: a pod's containers are processes, isolated by namespaces, that
// a stock kubelet started, probes and restarts.
//
//	m, err := machine.Keep(ctx, …)           // the network that joins the nodes
//	nodes, err := realnode.Run(ctx, realnode.Options{Machine: m, Specs: node.DefaultReal(), …})
//	defer nodes.Stop()
//
// The parts, by who runs them:
//
//   - the cluster's process: this package; services, dns: the Services and names of the cluster; machine, fdpass: its
//     arm in the nodes' network; cgroup: limits of containers
//   - slipway-node, one process for each node: kubelet, with cri, isolated, plain, imagestore,
//     podnet, process, capability and seccomp
//   - both of these: preflight, what real nodes refuse of a pod
//   - slipway-container, a small program that all namespaces and containers begin with: containerinit; keeper, where
//     there are none
//
// Where the system has no namespaces, or forbids them, package plain and [machine.Plain] stand in, with plain processes
// of the machine.
//
// It works for root, whose nodes get a range of ids of their own, and for an ordinary user, whose nodes have the one id
// of that user. Nothing of the host is changed, and all of it ends with the cluster's process. It is isolation for
// tests, not against an attacker.
package realnode

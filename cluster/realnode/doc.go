// Package realnode runs real nodes: stock kubelets that start, probe and restart a pod's containers as processes,
// isolated by namespaces.
//
//	m, err := machine.Keep(ctx, …)           // the network that joins the nodes
//	nodes, err := realnode.Run(ctx, realnode.Options{Machine: m, Specs: node.DefaultReal(), …})
//	defer nodes.Stop()
//
// Three programs share the work:
//
//   - The cluster's process has this package; services and dns, for the cluster's Services and names; machine and
//     fdpass, which reach into the nodes' network; cgroup, for limits of containers.
//   - slipway-node, one process for each node, has kubelet, with cri, isolated, plain, imagestore, podnet, process,
//     capability and seccomp. It shares preflight, the fields of pods that real nodes refuse, with the cluster's
//     process.
//   - slipway-container, a small program, is the first in each namespace and container: containerinit. On plain nodes
//     it is the keeper of a container's processes: keeper.
//
// If the system has no namespaces, or forbids them, packages plain and [machine.Plain] run plain processes instead.
//
// Root's nodes get a range of ids of their own. An ordinary user's nodes have the ids that the system sets aside for
// the user (subid), or else the user's one id. Nothing of the host changes, and all of it ends with the cluster's
// process. The isolation is for tests: it does not hold against an attacker.
package realnode

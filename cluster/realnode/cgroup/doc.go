// Package cgroup limits and measures the containers of real nodes, where this machine lets it: each container gets a
// cgroup of its own.
//
//	tree, err := cgroup.Open(cgroup.Options{Sweeper: …})  // why there are none, if it is ErrForbidden
//	node := tree.Node()
//	files, err := node.Make("container", wire.Limits{Memory: 64 << 20})
//	usage, err := node.Remove("container")
//	tree.Close()
//
// It is the cluster's process that makes them: nodes are in namespaces where nothing of the host's can be written. A
// node gets open files, the cgroup's lists of processes. A process that has inherited them joins by writing to them,
// before it becomes the container's program.
//
// Both versions are known. With the first there is a hierarchy for each controller, and the cluster's cgroups lie below
// the one that this process is in. With the second there is one hierarchy, in which a cgroup has either processes or
// limited children, and a process may be moved only by who may write to the cgroup that both places lie below; so the
// cluster's lie below the nearest one above this process where that holds: a slice for root, the user manager's for an
// ordinary user.
//
// A cgroup is no process and does not end by itself. The program slipway-container, in its part sweep, waits for the
// end of this process, whatever brings it, and removes the cluster's. Should it be killed as well, the next cluster
// does it: each cluster holds a lock on its folder, so a folder without a lock is left over.
package cgroup

// Package cgroup limits and measures the containers of real nodes, if this machine allows it. Each container gets a
// cgroup of its own.
//
//	tree, err := cgroup.Open(cgroup.Options{Sweeper: …})  // the error is ErrForbidden, with the reason, if there can be none
//	node := tree.Node()
//	files, err := node.Make("container", wire.Limits{Memory: 64 << 20})
//	usage, err := node.Remove("container")
//	tree.Close()
//
// The cluster's process makes the cgroups, because nodes see nothing of the host. A node gets open files, the cgroup's
// lists of processes. A process that inherits them joins by writing to them, before it becomes the container's program.
//
// The package supports both versions of cgroups. Version 1 has a hierarchy for each controller, and the cluster's
// cgroups lie below this process's own. Version 2 has one hierarchy, in which a cgroup has either processes or limited
// children. To move a process, one must be able to write to the nearest common ancestor of both cgroups. So the
// cluster's lie below the nearest suitable ancestor of this process: a slice for root, the user manager's cgroup for an
// ordinary user.
//
// Cgroups do not end with processes. The program slipway-container, in its part sweep, waits for the end of this
// process, however it ends, and removes the cluster's cgroups. If that program is killed too, the next cluster removes
// them: each cluster holds a lock on its folder, so a folder without a lock is left over.
package cgroup

// Package containerinit is the program slipway-container, which sets up the namespaces of real nodes from within. It
// runs between clone and exec. It is small because every container starts with it.
//
// It has several parts, in the order in which they start each other:
//
//	machine    holds the network that joins all nodes of a cluster, makes sockets in it for the
//	           cluster's process ([wire.Request]), and starts nodes
//	node       gives a node its own /var, /proc and network, and becomes slipway-node, the kubelet
//	spawn      starts containers for a node, which is too large to do that quickly ([wire.Spawn])
//	container  makes a container's root file system and becomes its first process ([wire.Container])
//	remove     removes a folder with files of an ordinary user's subordinate ids
//	enter      starts another process in a running container ([wire.Process])
//	sweep      outlives the cluster's process by a moment and removes its cgroups, which do not end by themselves
//
// The machine, each node and each container is the first process of its own pid namespace: at its end the kernel kills
// all processes that it started. Nothing of the host changes. A part reads its description from an inherited file, as
// JSON in the form of package [github.com/slipway-dev/slipway/cluster/realnode/wire].
package containerinit

// The parts that only this program starts.
const (
	partEntered  = "entered"
	partRemoving = "removing"
)

// Package containerinit is what runs between a clone and an exec: the program slipway-container, which is small because
// every container starts with it, and which the namespaces of real nodes are set up by from within.
//
// It plays several parts, in the order in which they begin each other:
//
//	machine    holds the network in which all nodes of a cluster are joined, makes sockets in it for the
//	           cluster's process ([wire.Request]), and starts nodes
//	node       gives a node its own /var, /proc and network, and becomes slipway-node, the kubelet
//	spawn      starts containers for a node, which is too large to do that quickly ([wire.Spawn])
//	container  makes a container's root file system and becomes its first process ([wire.Container])
//	remove     removes a folder with files of ids that were set aside for an ordinary user
//	enter      starts one more process in a container that runs ([wire.Process])
//	sweep      outlives the cluster's process by a moment and removes its cgroups, which do not end by themselves
//
// A machine is the first process of its own pid namespace, and so is each node and each container in theirs: whichever
// ends takes with it everything that it has begun. Nothing of the host is changed. A part reads what it has to know
// from a file that it inherits: JSON in the form of package [github.com/slipway-dev/slipway/cluster/realnode/wire].
package containerinit

// The parts that only this program begins.
const (
	partEntered  = "entered"
	partRemoving = "removing"
)

// Package plain runs the containers of pods as plain processes of this machine, where the system does not let real
// nodes have namespaces, or has none.
//
//	runtime, err := cri.New(cri.Options{Starter: plain.New(plain.Options{…}), Network: plain.Network{}, …})
//
// A container has a copy of its image's files in a folder of its own, and its program is run from there, without a
// change of the root. Mounts lie in folders of the node. Therefore paths that the container would have are replaced by
// those of this machine, in arguments, environment and working folder. Paths that are written down in the program are
// not. The API server and its credentials are in a kubeconfig, which KUBECONFIG names. All pods have the address of
// this machine.
//
// Nothing is isolated, and those parts of a pod's security context that cannot be had are left out ([Pods]). A pod that
// would be dangerous is refused. Processes end with the node
// ([github.com/slipway-dev/slipway/cluster/realnode/keeper]).
//
// It also stands for mounts ([Mounts], [Subpaths], [Host]): a volume is a folder, and nothing is mounted.
package plain

// Package plain runs the containers of pods as plain processes of this machine, on systems without namespaces for real
// nodes.
//
//	runtime, err := cri.New(cri.Options{Starter: plain.New(plain.Options{…}), Network: plain.Network{}, …})
//
// A container has a copy of its image's files in its own folder, and its program runs from there, without a change of
// root. Volumes are folders of the node. So paths of the container in arguments, environment and working folder are
// replaced by those on this machine; paths inside the program are not. KUBECONFIG names a kubeconfig with the API
// server and the pod's credentials. All pods have this machine's address.
//
// Nothing is isolated. [Pods] removes unsupported fields of the security context, and privileged containers are
// refused. Processes end with the node ([github.com/slipway-dev/slipway/cluster/realnode/keeper]).
//
// The package also stands in for mounts ([Mounts], [Subpaths], [Host]): a volume is a folder, and nothing is mounted.
package plain

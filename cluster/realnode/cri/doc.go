// Package cri is a container runtime without a daemon: the kubelet calls its implementation of the CRI as Go
// interfaces.
//
//	runtime, err := cri.New(cri.Options{Dir: …, Images: store, Network: network, Starter: starter})
//	dependencies.RemoteRuntimeService, dependencies.RemoteImageService = runtime, cri.NewImages(store, dir)
//
// A sandbox is a network namespace, held by a file, and memory that its containers share. A [Starter] runs the
// processes of containers: that of package [github.com/slipway-dev/slipway/cluster/realnode/isolated] gives each its
// own namespaces. No state survives a restart of the node: containers end with the node, and the kubelet begins anew.
//
// The runtime refuses unsupported fields, with a reason that becomes an Event on the pod. These are hostPID and
// hostIPC, shared process namespaces, seccomp and AppArmor profiles from files, and sysctls outside net. It also
// refuses devices, runtime classes, bidirectional mount propagation, and checkpoints. It ignores SELinux labels, as
// other runtimes do on systems without SELinux.
package cri

// Package cri runs pods as the kubelet asks for them: it is a container runtime, called by its Go interfaces, without a
// daemon.
//
//	runtime, err := cri.New(cri.Options{Dir: …, Images: store, Network: network, Starter: starter})
//	dependencies.RemoteRuntimeService, dependencies.RemoteImageService = runtime, cri.NewImages(store)
//
// A sandbox is a network namespace, held by a file, and memory that its containers share. How the processes of
// containers are run is a [Starter]'s: that of package [github.com/slipway-dev/slipway/cluster/realnode/isolated] gives
// each namespaces of its own. Nothing is kept for the node's next run: what runs ends with the node, and the kubelet
// begins anew.
//
// What this runtime does not do it refuses, in words that end up in the pod's events: the host's pid and ipc
// namespaces, process namespaces that several containers share, seccomp and AppArmor profiles from files, settings of
// the kernel besides the network's, devices, runtime classes, mounts that a container makes for others, and
// checkpoints. Labels of SELinux are passed over, as by other runtimes where that is off.
package cri

// Package isolated runs the containers of pods in namespaces of their own, the user namespace among them, over a file
// system laid over the image's.
//
//	starter, err := isolated.New(isolated.Options{Inside: …, Groups: …})
//	runtime, err := cri.New(cri.Options{Starter: starter, …})
//
// A container's first process is slipway-container before it is the image's program: package
// [github.com/slipway-dev/slipway/cluster/realnode/containerinit] is what it does then. A small process of the node
// starts it, as the node's child. Package plain does the same without namespaces. This package exists on Linux alone.
package isolated

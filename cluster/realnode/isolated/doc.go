// Package isolated runs the containers of pods in their own namespaces, including a user namespace, with an overlay on
// the image's files.
//
//	starter, err := isolated.New(isolated.Options{Inside: …, Groups: …})
//	runtime, err := cri.New(cri.Options{Starter: starter, …})
//
// A container's first process is slipway-container (package
// [github.com/slipway-dev/slipway/cluster/realnode/containerinit]) until it executes the image's program. A small
// process of the node starts it, as the node's child. Package plain does the same without namespaces. This package
// exists on Linux only.
package isolated

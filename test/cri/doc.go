// Package cri runs critest, which Kubernetes has for container runtimes, against the one of real nodes.
//
// The runtime lives in the kubelet's process and has no socket. So the test serves it on one, in namespaces like those
// of a node, and runs critest's specs there. The images that they name come from a registry of the test's own, whatever
// registry they name; all are made of Debian's busybox-static. Specs that are left out are listed in
// specs_linux_test.go, each with the reason.
//
//	go test -C test/cri -v .
//
// It is a module of its own, because critest brings a test framework that nothing else here uses. It needs root: a node
// that an ordinary user starts has what root's has, or says what it lacks (docs/guides/real-nodes.md).
package cri

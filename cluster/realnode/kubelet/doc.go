// Package kubelet is the program slipway-node: the stock kubelet with a container runtime in the same process (package
// [github.com/slipway-dev/slipway/cluster/realnode/cri]).
//
// The program runs as the first process of a node's namespaces, which package
// [github.com/slipway-dev/slipway/cluster/realnode/containerinit] has made, with the paths that a kubelet has anywhere:
// /var below which all is the node's own. It is a process of its own, and a program of its own, because a kubelet ends
// its process when it likes, sets what is global, and needs packages that a cluster should not compile or start for
// simulated nodes.
//
// What manages cgroups is left out, since a node sees none: stubs stand for cAdvisor and the container manager. Limits
// of containers and measurements are the runtime's. Everything else is the stock kubelet: probes, volumes, tokens,
// back-off, hooks, its server.
//
// Its upstream counterparts are k8s.io/kubernetes/cmd/kubelet/app/server.go and
// k8s.io/kubernetes/pkg/kubemark/hollow_kubelet.go.
package kubelet

// Package kubelet is the program slipway-node: the stock kubelet with a container runtime in the same process (package
// [github.com/slipway-dev/slipway/cluster/realnode/cri]).
//
// The program is the first process of a node's namespaces, which package
// [github.com/slipway-dev/slipway/cluster/realnode/containerinit] makes. It uses the kubelet's usual paths: /var and
// all below it are the node's own. A separate process is needed because a kubelet may exit, and sets globals. A
// separate program is needed because its packages are slow to compile and to start, and simulated nodes do not need
// them.
//
// A node sees no cgroups: stubs stand in for cAdvisor and the container manager. The runtime applies limits and
// measures containers. All else is the stock kubelet: probes, volumes, tokens, back-off, hooks, its server.
//
// Its upstream counterparts are k8s.io/kubernetes/cmd/kubelet/app/server.go and
// k8s.io/kubernetes/pkg/kubemark/hollow_kubelet.go.
package kubelet

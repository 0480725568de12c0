// Package podnet sets up the network of a real node, from within the node.
//
// The node has a network namespace of its own. A veth pair joins it to the machine, and a bridge joins its pods. Each
// has routes to the others. Services have addresses of the machine, where the cluster's process listens (package
// [github.com/slipway-dev/slipway/cluster/realnode/services]). The machine has no route to other addresses: they are
// unreachable at once, unless it redirects them.
//
//	network, err := podnet.Setup(podnet.Config{…})
//	pod, err := network.Add(nil)
//	pod.Address, pod.Namespace
//	network.Remove(pod)
//
// It needs no firewall rules, and all of it disappears with the node's first process.
package podnet

// Package podnet is the network of one real node, as the node sees it.
//
// The node has a network namespace of its own. A pair of interfaces joins it to the machine's, and a bridge to those of
// its pods; each has routes to the others. Services are addresses of the machine, where the cluster's process listens
// (package [github.com/slipway-dev/slipway/cluster/realnode/services]). There is no way out: whatever else is dialled
// is unreachable at once.
//
//	network, err := podnet.Setup(podnet.Config{…})
//	pod, err := network.Add(nil)
//	pod.Address, pod.Namespace
//	network.Remove(pod)
//
// Nothing needs rules of a firewall, and all of it is gone with the node's first process.
package podnet

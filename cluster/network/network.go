// Package network is the network of a cluster whose nodes are simulated: which addresses there are, and where the API
// server's connections into the cluster lead.
//
// In a real cluster the API server reaches webhooks, aggregated API servers and pods through the network's rules for
// Services. Here no such rules exist; a [Dialer] stands in for them. It connects to
//
//   - a Service's address by way of one of the Service's endpoints, programs of this machine first;
//   - the address [Host], which is this machine's loopback: the API refuses loopback addresses as endpoints, and a
//     machine's other addresses come and go;
//   - a kubelet, which package [github.com/slipway-dev/slipway/cluster/kubelet] plays;
//   - anything else that is real as it is.
//
// Simulated pods and nodes listen nowhere. The code that asks for one gets an [ErrSimulated] at once, which says what
// to do, in place of a timeout.
package network

import "net/netip"

// Pods is the range of pods' addresses and Nodes that of the nodes'. Nothing listens there, but they must be
// addresses that EndpointSlices accept, which loopback is not.
var (
	Pods  = netip.MustParsePrefix("10.128.0.0/9")
	Nodes = netip.MustParsePrefix("10.127.0.0/16")
)

// Host stands for this machine in an EndpointSlice: a connection to it is one to 127.0.0.1. No node has this address.
var Host = netip.MustParseAddr("10.127.255.254")

// Simulated reports whether an address is that of a pod or node, where nothing listens.
func Simulated(ip netip.Addr) bool {
	return ip != Host && (Pods.Contains(ip) || Nodes.Contains(ip))
}

package podnet

import (
	"net/netip"
	"os"
)

// Pod is the network of a pod.
type Pod struct {
	Address   netip.Addr
	Namespace *os.File // nil if the pod shares its node's network
	link      string   // its interface in the node
}

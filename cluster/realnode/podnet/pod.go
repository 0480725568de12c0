package podnet

import (
	"net/netip"
	"os"
)

// Pod is a pod's part of a network.
type Pod struct {
	Address   netip.Addr
	Namespace *os.File // nil for a pod in the network of its node
	link      string   // the name of its interface in the node
}

package plain

import (
	"errors"
	"net"
	"net/netip"

	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
)

// Network gives all pods the address of this machine.
type Network struct{}

// ErrNoAddress means that this machine has no address that pods could have.
var ErrNoAddress = errors.New("this machine has only a loopback address, but pods of plain nodes need another IPv4 address: connect it to a network")

// Add gives a pod the machine's current address.
func (Network) Add(map[string]string) (*podnet.Pod, error) {
	address, err := Address()
	if err != nil {
		return nil, err
	}
	return &podnet.Pod{Address: address}, nil
}

// Remove does nothing.
func (Network) Remove(*podnet.Pod) {}

// Address returns this machine's first global unicast IPv4 address. A loopback address would not do: the API refuses it
// for pods, and the kubelet dials the address in the API.
func Address() (netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().Is4() && p.Addr().IsGlobalUnicast() {
			return p.Addr(), nil
		}
	}
	return netip.Addr{}, ErrNoAddress
}

package realnode

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/realnode/egress"
)

// Why a Service does not lead pods to an endpoint that is not in the nodes' network. EndpointSlices may come with any
// manifest, and hostile nodes report any address for their pods, so that the user of this machine decides.
var (
	errHostPort = errors.New("pods reach this machine's loopback only at the ports that `slipway cluster start --host-ports` names")
	errNoEgress = errors.New("pods reach addresses outside the cluster only after `slipway cluster start --egress`")
)

// policy is the one for addresses outside of the cluster.
func (n *Nodes) policy() egress.Policy {
	return egress.Policy{Cluster: []netip.Prefix{network.Nodes, network.Pods, n.options.Services}}
}

// checkOutside returns nil for an endpoint outside of the nodes' network to which Services lead pods.
func (n *Nodes) checkOutside(at netip.AddrPort) error {
	switch {
	case at.Addr() != network.Host && !n.options.Egress:
		return errNoEgress
	case at.Addr() != network.Host:
		return n.policy().CheckDial(at.String())
	case !slices.Contains(n.options.HostPorts, int(at.Port())):
		return fmt.Errorf("%w, which leave out %d", errHostPort, at.Port())
	}
	return nil
}

// reportOutside is [Nodes.checkOutside] that has refusals reported; nil where pods have this machine's network anyway.
func (n *Nodes) reportOutside(o *outsiders) func(client net.Addr, at netip.AddrPort) error {
	if !n.options.Machine.OwnNetwork() {
		return nil
	}
	return func(client net.Addr, at netip.AddrPort) error {
		err := n.checkOutside(at)
		if err != nil {
			o.noteRefused(client, at, err)
		}
		return err
	}
}

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

// The reasons why a Service does not lead pods to an endpoint outside the nodes' network. Any manifest can bring
// EndpointSlices, and a hostile node can report any address for its pods. So the user of this machine decides.
var (
	errHostPort = errors.New("pods reach this machine's loopback only at the ports that `slipway cluster start --host-ports` names")
	errNoEgress = errors.New("pods reach addresses outside the cluster only after `slipway cluster start --egress`")
)

// policy refuses addresses in the cluster's own ranges, for connections to addresses outside the cluster.
func (n *Nodes) policy() egress.Policy {
	return egress.Policy{Cluster: []netip.Prefix{network.Nodes, network.Pods, n.options.Services}}
}

// checkOutside returns nil if Services may lead pods to this endpoint outside the nodes' network.
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

// reportOutside returns [Nodes.checkOutside] with a report of each refusal. It returns nil if pods share this machine's
// network: they reach every endpoint without us.
func (n *Nodes) reportOutside(o *refusalReporter) func(client net.Addr, at netip.AddrPort) error {
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

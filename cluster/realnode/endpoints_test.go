package realnode

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/realnode/egress"
)

// TestEndpointsOutside: Services lead pods to what the cluster's user has opened, whatever EndpointSlices have.
func TestEndpointsOutside(t *testing.T) {
	closed := &Nodes{options: Options{Services: netip.MustParsePrefix("10.0.0.0/16")}}
	open := &Nodes{options: closed.options}
	open.options.Egress, open.options.HostPorts = true, []int{5432}
	for at, want := range map[string]struct{ closed, open error }{
		network.Host.String() + ":5432": {errHostPort, nil},
		network.Host.String() + ":22":   {errHostPort, errHostPort},
		"192.0.2.1:443":                 {errNoEgress, nil},
		"127.0.0.1:5432":                {errNoEgress, egress.ErrRefused},
		"169.254.169.254:80":            {errNoEgress, egress.ErrRefused},
		"168.63.129.16:80":              {errNoEgress, egress.ErrRefused},
		"10.0.0.1:443":                  {errNoEgress, egress.ErrRefused},
		"[::1]:5432":                    {errNoEgress, egress.ErrRefused},
	} {
		to := netip.MustParseAddrPort(at)
		if err := closed.checkOutside(to); !errors.Is(err, want.closed) {
			t.Errorf("%s by default: %v", at, err)
		}
		if err := open.checkOutside(to); !errors.Is(err, want.open) {
			t.Errorf("%s with --egress and --host-ports: %v", at, err)
		}
	}
}

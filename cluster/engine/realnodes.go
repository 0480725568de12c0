package engine

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode"
)

// reach is the way into the network of real nodes. There is none before there are any.
type reach struct {
	mu        sync.Mutex
	machine   ground
	addresses []netip.Prefix
}

var _ network.Inside = (*reach)(nil)

// Has says whether an address is that of a real node, or of one of its pods.
func (r *reach) Has(ip netip.Addr) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.addresses, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// DialContext connects from within.
func (r *reach) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if m := r.through(); m != nil {
		return m.DialContext(ctx, network, address)
	}
	return nil, fmt.Errorf("connect to %s: there are no real nodes", address)
}

// through is the machine that runs; nil for none.
func (r *reach) through() ground {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.machine != nil {
		select {
		case <-r.machine.Ended():
			return nil
		default:
		}
	}
	return r.machine
}

func (r *reach) set(m ground) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.machine = m
}

func (r *reach) lead(to []netip.Prefix) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addresses = to
}

// startMachine starts what real nodes stand on, unless it runs or is about to.
func (c *Cluster) startMachine(ctx context.Context, program string) error {
	if m := c.reach.through(); m != nil {
		m.Revive()
		return nil
	}
	if err := os.MkdirAll(c.nodesDir(), 0o700); err != nil {
		return fmt.Errorf("make the folder of the nodes: %w", err)
	}
	g, err := c.findMachine(ctx, program)
	if err != nil {
		return err
	}
	c.reach.set(g)
	if what := notice(g); what != "" && c.note != nil {
		c.note(protocol.Nodes, what)
	}
	if c.spec.Real.Egress && !g.OwnNetwork() && c.note != nil {
		c.note(protocol.Nodes, "--egress has no effect: pods of plain nodes use this machine's network")
	}
	return nil
}

// stopMachine ends everything of real nodes that is still there.
func (c *Cluster) stopMachine() {
	if m := c.reach.through(); m != nil {
		m.Stop()
	}
}

// EgressEnabled says whether pods of real nodes, those that may yet join included, reach the network by way of this
// process.
func (c *Cluster) EgressEnabled() bool {
	m := c.reach.through()
	return c.spec.Real != nil && c.spec.Real.Egress && (m == nil || m.OwnNetwork())
}

// Plain says whether real nodes are plain ones, whose pods have this machine's network.
func (c *Cluster) Plain() bool {
	m := c.reach.through()
	return m != nil && !m.OwnNetwork()
}

// runReal runs real nodes beside the others until life ends. They need the machine.
func (c *Cluster) runReal(life context.Context, program string, specs []node.Spec, others []string, log *slog.Logger) (*realnode.Nodes, error) {
	return realnode.Run(life, realnode.Options{
		Client: c.loopback(), Specs: specs, Others: others, Machine: c.reach.through(), Program: program,
		Server: c.serverAddress(), Services: netip.MustParsePrefix(apiserver.ServiceRange),
		Keys: c.keys, Reach: c.spec.Real.Reach, Log: log, Output: c.klogOf(protocol.Nodes), Registered: c.reach.lead,
	})
}

func (c *Cluster) klogOf(component string) io.Writer {
	if c.klog == nil {
		return io.Discard
	}
	return c.klog(component)
}

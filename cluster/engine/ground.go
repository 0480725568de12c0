package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
)

// ground is what real nodes stand on: one with namespaces, or this machine as it is.
type ground interface {
	realnode.Machine
	// Unlimited says what the nodes' containers lack that users should know; it is empty where they lack nothing.
	Unlimited() string
	// Ended is closed when it has ended for good.
	Ended() <-chan struct{}
	// Problem says why it does not run; it is empty while it does, or is about to.
	Problem() string
	Stop()
}

// ErrIsolated says that the cluster may have no plain nodes, and the system forbids isolated ones.
var ErrIsolated = errors.New("the configuration allows only isolated nodes")

// notice is what users are told of it at the start.
func notice(g ground) string {
	if p, ok := g.(*machine.Plain); ok {
		return p.Notice()
	}
	return g.Unlimited()
}

// findMachine starts a machine with namespaces or, where that is wanted or where the system has none, takes this one.
// Plain processes are only for users who asked for real nodes and did not exclude them.
func (c *Cluster) findMachine(ctx context.Context, program string) (ground, error) {
	o := machine.Options{
		Program: containerBeside(program), State: c.nodesDir(), Log: c.klogOf(protocol.Nodes),
	}
	if c.spec.Real.Plain {
		return machine.StartPlain(o, nil), nil
	}
	begin := func(ctx context.Context) (*machine.Machine, error) { return machine.Start(ctx, o) }
	m, err := machine.Keep(ctx, begin, c.logger(protocol.Nodes))
	if forbidden, ok := errors.AsType[*machine.Forbidden](err); ok && len(c.spec.RealNodes) > 0 {
		if c.spec.Real.Isolated {
			return nil, fmt.Errorf("%w: %w", ErrIsolated, err)
		}
		return machine.StartPlain(o, forbidden), nil
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

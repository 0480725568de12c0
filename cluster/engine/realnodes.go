package engine

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// containerProgram lies beside slipway-node.
const containerProgram = "slipway-container"

// startMachine starts what real nodes stand on. The API server connects to pods through it.
func (c *Cluster) startMachine(ctx context.Context) error {
	if c.spec.Real == nil || !c.spec.Controllers {
		return nil
	}
	if err := os.MkdirAll(c.nodesDir(), 0o700); err != nil {
		return fmt.Errorf("make the folder of the nodes: %w", err)
	}
	var err error
	c.machine, err = machine.Start(ctx, machine.Options{
		Program: filepath.Join(filepath.Dir(c.spec.Real.Program), containerProgram), State: c.nodesDir(), Log: c.klogOf(protocol.Nodes),
	})
	if err != nil {
		return err
	}
	if why := c.machine.Unlimited(); why != "" && c.note != nil {
		c.note(protocol.Nodes, why)
	}
	go c.watchMachine(c.machine)
	return nil
}

// watchMachine fails when the machine ends before the cluster does: nodes, Services and what the API server connects to all stand on it, so
// nothing would be left to go on with.
func (c *Cluster) watchMachine(m *machine.Machine) {
	<-m.Ended()
	if c.workersLife.Err() == nil {
		c.fail(&Error{protocol.Nodes, fmt.Errorf("the process that all nodes stand on has ended: %s", m.Status())})
	}
}

// inside connects into the network of real nodes; nil without them.
func (c *Cluster) inside() network.Inside {
	if c.machine == nil {
		return nil
	}
	return c.machine
}

// runNodes is nil for simulated nodes.
func (c *Cluster) runNodes() func(context.Context, []node.Spec, *slog.Logger) (workers.Nodes, error) {
	if c.machine == nil {
		return nil
	}
	return func(ctx context.Context, specs []node.Spec, log *slog.Logger) (workers.Nodes, error) {
		return realnode.Run(ctx, realnode.Options{
			Client: c.loopback(), Specs: specs, Machine: c.machine, Program: c.spec.Real.Program,
			Server: strings.TrimPrefix(c.address, "https://"), Services: netip.MustParsePrefix(apiserver.ServiceRange),
			Keys: c.keys, Registry: c.spec.Real.Registry, Log: log, Output: c.klogOf(protocol.Nodes),
		})
	}
}

func (c *Cluster) klogOf(component string) io.Writer {
	if c.klog == nil {
		return io.Discard
	}
	return c.klog(component)
}

// stopMachine ends everything of real nodes that is still there.
func (c *Cluster) stopMachine() {
	if c.machine != nil {
		c.machine.Stop()
	}
}

package kubelet

import (
	"os"

	"github.com/slipway-dev/slipway/cluster/realnode/inside"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
)

// network sets up the node's network, whose namespace is the process's own.
func (n *node) network() (*podnet.Network, error) {
	machine := os.NewFile(inside.FileMachine, "the machine's network")
	defer machine.Close()
	return podnet.Setup(podnet.Config{
		Machine: machine, Address: n.Address, Pods: n.Pods, Services: n.Services, Host: n.Config.Machine, Number: n.Number,
	})
}

package clusterctl

import (
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/protocol"
)

// Options say what cluster to start. The zero value is a good one: the default
// name, a free port, throw-away data, controllers and one node.
type Options struct {
	Name    string // empty: DefaultName
	Port    int    // of the API server on 127.0.0.1; 0: a free one
	Durable bool   // keep data over restarts and crashes
	Nodes   []Node // nil: one default node; empty: none

	// NoControllers leaves out controllers, scheduler and nodes, like envtest does.
	NoControllers  bool
	APIServerFlags []string // further --flag=value

	// NoContext leaves the user's kubeconfig alone (Start only; Tie never touches it).
	NoContext bool
	// Timeout bounds the time to readiness, a build of the program not included; 0: one minute.
	Timeout time.Duration
}

// readyTime is how long a cluster may take to become ready: it needs about a
// second, and a busy machine with a cold disk several times that.
const readyTime = time.Minute

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return readyTime
}

// config returns the program's configuration for a cluster in dir.
func (o Options) config(name, dir, socket string) protocol.Config {
	c := protocol.Config{Protocol: protocol.Number, Name: name, Dir: dir, Socket: socket, Port: o.Port,
		Durable: o.Durable, Nodes: o.Nodes, APIServerFlags: o.APIServerFlags}
	if o.NoControllers {
		c.Controllers = new(false)
	}
	return c
}

package engine

import (
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// components follows the states of components and tells them in order.
type components struct {
	tell func(component string, state protocol.State) // may be nil

	mu     sync.Mutex
	active []string // those that were started and have not ended, in that order
}

func (c *components) set(component string, state protocol.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case protocol.StateStarting:
		c.active = append(c.active, component)
	case protocol.StateStopped:
		c.active = slices.DeleteFunc(c.active, func(name string) bool { return name == component })
	}
	if c.tell != nil {
		c.tell(component, state)
	}
}

// stopping says of all that run that they are about to stop, of the last one first.
func (c *components) stopping() {
	c.mu.Lock()
	running := slices.Clone(c.active)
	c.mu.Unlock()
	slices.Reverse(running)
	for _, component := range running {
		c.set(component, protocol.StateStopping)
	}
}

package engine

import (
	"slices"
	"time"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// stopGrace is how long controllers, scheduler and nodes get to end.
const stopGrace = 150 * time.Millisecond

// Stop ends the cluster: first the clients in this process, then etcd, in order, so
// that a durable store is whole.
//
// The API server is told but not waited for. It would wait for requests, open
// watches and its own leases, which takes seconds and changes nothing: what it has
// acknowledged is in etcd's log. A server that is still starting is not even
// told, because its start-up hooks answer that by ending the process with a stack
// trace. What is left of it ends with the process.
func (c *Cluster) Stop() {
	for _, component := range c.lastFirst() {
		c.progress(component, protocol.Stopping)
	}
	c.stopWorkers()
	c.waitForWorkers(stopGrace)
	if c.serverReady {
		c.stopServer()
	}
	if c.store != nil {
		c.store.Stop()
		c.progress(protocol.Etcd, protocol.Ended)
	}
}

func (c *Cluster) waitForWorkers(grace time.Duration) {
	ended := make(chan struct{})
	go func() {
		c.workers.Wait()
		close(ended)
	}()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}

// lastFirst lists the components that run, the one that was started last first.
func (c *Cluster) lastFirst() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	active := slices.Clone(c.active)
	slices.Reverse(active)
	return active
}

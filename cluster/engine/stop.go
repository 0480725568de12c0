package engine

import (
	"slices"
	"time"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// stopGrace is how long components get to end. The process ends afterwards in any case, and
// what was acknowledged is in etcd's log.
const stopGrace = 150 * time.Millisecond

// Stop ends the cluster. The clients in this process are told first, then the API
// server; an open watch is not waited for. Etcd ends last and in order, so that
// a durable store is whole.
func (c *Cluster) Stop() {
	for _, component := range c.lastFirst() {
		c.progress(component, protocol.Stopping)
	}
	c.cancel()
	c.waitFor(stopGrace)
	if c.store == nil {
		return
	}
	c.store.Stop()
	c.progress(protocol.Etcd, protocol.Ended)
}

// waitFor waits until everything but etcd has ended, but not longer than grace.
func (c *Cluster) waitFor(grace time.Duration) {
	ended := make(chan struct{})
	go func() {
		c.running.Wait()
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

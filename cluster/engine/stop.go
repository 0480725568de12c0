package engine

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

const (
	// stopGrace is how long controllers, scheduler and nodes get to end with the process.
	stopGrace = 150 * time.Millisecond
	// removeGrace is how long the parts of a logical cluster get each. They must end,
	// for the process goes on.
	removeGrace = 10 * time.Second
)

// Stop ends all clusters: first the clients in this process, then etcd, in order, so
// that a durable store is whole.
//
// Stop asks the API servers to end, and does not wait for that. They would wait for
// requests, open watches and their own leases. That takes seconds and changes nothing:
// etcd's log has what they have acknowledged. Stop does not even ask a server that is
// still starting: its start-up hooks would end the process with a stack trace. The rest
// of it ends with the process.
func (h *Host) Stop() {
	h.components.stopping()
	var group sync.WaitGroup
	for _, c := range h.close() {
		group.Go(c.quit)
	}
	group.Wait()
	if h.store != nil {
		h.store.Stop()
		h.components.set(protocol.Etcd, protocol.StateStopped)
	}
}

// close lists the clusters, after which none comes in. One that is being started is left
// to the end of its context.
func (h *Host) close() []*Cluster {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	all := []*Cluster{h.main}
	for _, l := range h.logical {
		if l.ready {
			all = append(all, l.Cluster)
		}
	}
	return all
}

// quit ends a cluster as far as that is quick.
func (c *Cluster) quit() {
	c.closeDoors()
	c.stopWorkers()
	c.waitForWorkers(stopGrace)
	c.stopMachine() // before the server, whose end its nodes' watches would hold up
	c.closeRecord()
	if c.serverReady.Load() {
		c.stopServer()
	}
}

// end ends a cluster for good, but for a server that is still starting, for the reason above.
func (c *Cluster) end() {
	c.closeDoors()
	c.stopWorkers()
	c.waitForWorkers(removeGrace)
	c.stopMachine()
	c.closeRecord()
	if !c.serverReady.Load() {
		return
	}
	c.stopServer()
	ctx, cancel := context.WithTimeout(context.Background(), removeGrace)
	defer cancel()
	select {
	case <-c.serverEnded:
	case <-ctx.Done():
	}
}

// closeDoors closes the front doors. What is left of one goes with the cluster's folder, or at the next start.
func (c *Cluster) closeDoors() {
	if err := c.doors.close(); err != nil {
		c.logger(protocol.APIServer).Warn("a front door was not closed in order", "error", err)
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

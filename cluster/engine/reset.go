package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/rollback"
)

const (
	// writeGrace is how long a reset waits for writes of the controllers that are under way: the deletion of a
	// collection goes on for a while, and would take from what has come back. Only an admission webhook makes one that
	// long.
	writeGrace = 500 * time.Millisecond
	// completeLimit bounds the wait for a store to be complete.
	completeLimit = 10 * time.Second
	// completePoll lies between two looks at a store that is almost complete.
	completePoll = 10 * time.Millisecond
)

var (
	errReset = errors.New("the cluster is being reset")
	// ErrRestless says that there is no state to keep, because a program writes all the time.
	ErrRestless = errors.New("objects keep changing: a program is writing to the cluster")
	// ErrIncomplete says that there is nothing to go back to, because the controllers did not make
	// in time what they make in every namespace, or the server what it makes for every CRD.
	ErrIncomplete = errors.New("objects of a namespace or a CRD were not created in time: see the logs of controllers and apiserver")
)

// remember makes the present state the one that resets lead back to.
func (c *Cluster) remember(ctx context.Context) error {
	snapshot, err := c.store.Read(ctx, c.prefix+"/")
	if err != nil {
		return &protocol.ComponentError{Component: protocol.Etcd, Err: err}
	}
	c.base = baseline.Of(snapshot, c.prefix)
	c.workers.Go(func() { c.settle(c.workersLife) })
	return nil
}

// settle adds to the baseline what the API server and the controllers write by themselves in the
// first moments, as it comes. What has not come in time is for the next reset to tell.
func (c *Cluster) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, completeLimit)
	defer cancel()
	_ = poll(ctx, completePoll, func() (bool, error) {
		c.resetting.Lock()
		defer c.resetting.Unlock()
		missing, late, err := c.adopt(ctx)
		c.settled = err == nil && len(missing) == 0 && !late
		return c.settled, err
	})
}

// complete waits for what the controllers make by themselves. A reset that comes too early waits for it.
func (c *Cluster) complete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, completeLimit)
	defer cancel()
	if c.settled {
		return nil
	}
	var missing []string
	err := poll(ctx, completePoll, func() (bool, error) {
		var err error
		missing, _, err = c.adopt(ctx)
		return len(missing) == 0, err
	})
	if err != nil {
		slices.Sort(missing)
		return fmt.Errorf("%w: without %s: %w", ErrIncomplete, strings.Join(missing, ", "), err)
	}
	return nil
}

// adopt adds to the baseline what has come of it by now. It tells what the controllers have not made
// yet, and whether something of the server's own is still to come, which is so for good where its flags
// leave that out.
func (c *Cluster) adopt(ctx context.Context) (missing []string, late bool, err error) {
	now, err := c.store.Read(ctx, c.prefix+"/")
	if err != nil {
		return nil, false, err
	}
	late = !c.base.AdoptLate(now)
	if c.spec.Controllers {
		c.base.Adopt(c.base.Missing(), now)
		missing = c.base.Missing()
	}
	return missing, late, nil
}

// Outcome is what a reset did: how many objects it removed, and how many it gave their former
// content. Kept says that it led back to what [Cluster.Keep] kept. Revision is that of the store when it was there.
type Outcome struct {
	Removed, Restored int
	Kept              bool
	Revision          int64
}

// Reset brings the cluster back to its state when it got ready, or to the one that was kept since: in the store, in
// what the API server answers and in what controllers, scheduler and nodes know. Finalizers do not matter.
//
// Reset writes the difference into the store directly. The server learns of it like of any change and reports it to all
// that watch; Reset waits until they know. Meanwhile the controllers cannot write. Another round takes back what they
// or the server have written by then. The next start of a durable cluster finishes what the end of the process
// interrupts.
func (c *Cluster) Reset(ctx context.Context) (Outcome, error) {
	c.resetting.Lock()
	defer c.resetting.Unlock()
	if err := c.complete(ctx); err != nil {
		return Outcome{}, err
	}
	if nodes := c.nodes.Load(); nodes != nil {
		if err := nodes.StartAll(ctx); err != nil {
			return Outcome{}, err
		}
	}
	c.gate.close(writeGrace)
	defer c.gate.open()
	way := rollback.Way{Store: c.store, Prefix: c.prefix, Journal: c.journal, Watch: c.watch,
		Prepare: func(now etcd.Snapshot) error { return c.base.Revive(now, node.RealLabel) }}
	recorded := c.resets()
	done, err := way.Back(ctx, c.base)
	recorded(c.store.Revision())
	if errors.Is(err, rollback.ErrMarked) {
		c.fail(&protocol.ComponentError{Component: protocol.Etcd, Err: err}) // the next start would take back what is written from now on
	}
	return Outcome{Removed: done.Removed, Restored: done.Restored, Kept: c.kept, Revision: done.Revision}, err
}

// watch returns what waits until everybody knows of a round of a reset.
func (c *Cluster) watch() func(context.Context, rollback.Changes) error {
	knowing := make(chan informed.Stores, 1)
	go func() { knowing <- c.knowledge() }() // it takes milliseconds, as writing does
	return func(ctx context.Context, made rollback.Changes) error {
		if err := c.converge(ctx, <-knowing, changes(made)); err != nil {
			return fmt.Errorf("wait until everybody knows of the reset: %w", err)
		}
		return nil
	}
}

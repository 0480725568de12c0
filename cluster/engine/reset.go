package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

const (
	// writeGrace is how long a reset waits for writes of the controllers that are under way: the deletion of a collection
	// goes on for a while, and would take from what has come back. Only an admission webhook makes one that long.
	writeGrace = 500 * time.Millisecond
	// transactions bounds those under way. The store takes what waits for it in one go.
	transactions = 128
	// completeLimit bounds the wait for a store to be complete.
	completeLimit = 10 * time.Second
	// completePoll lies between two looks at a store that is almost complete.
	completePoll = 10 * time.Millisecond
	// maxRounds bounds a reset against programs that do not stop writing.
	maxRounds = 10
)

var (
	errReset = errors.New("the cluster is being reset")
	// ErrBusy says that the cluster did not get back to its baseline, because somebody wrote
	// all the time.
	ErrBusy = errors.New("objects keep coming back, a program is writing to the cluster")
	// ErrRestless says that there is no state to keep, because somebody writes all the time.
	ErrRestless = errors.New("objects keep changing, a program is writing to the cluster")
	// ErrIncomplete says that there is nothing to go back to, because the controllers did not make
	// in time what they make in every namespace, or the server what it makes for every CRD.
	ErrIncomplete = errors.New("what belongs to a namespace or a CRD was not made in time, see the logs of controllers and apiserver")
)

// remember makes the present state the one that resets lead back to.
func (c *Cluster) remember(ctx context.Context) error {
	snapshot, err := c.store.Read(ctx, c.prefix+"/")
	if err != nil {
		return &Error{protocol.Etcd, err}
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
// content. Kept says that it led back to what [Cluster.Keep] kept.
type Outcome struct {
	Removed, Restored int
	Kept              bool
}

// Reset brings the cluster back to its state when it got ready, or to the one that was kept since: in the store, in what the API
// server answers and in what controllers, scheduler and nodes know. Finalizers do not matter.
//
// The difference goes into the store directly. The server, which learns of it like of any
// change, then tells everybody; Reset waits until they know. Meanwhile the controllers cannot
// write. What they or the server have written by then is taken back in another round.
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
	done := Outcome{Kept: c.kept}
	for range maxRounds {
		now, err := c.store.Read(ctx, c.prefix+"/")
		if err != nil {
			return done, err
		}
		if err := c.base.Revive(now, node.RealLabel); err != nil {
			return done, err
		}
		change := c.base.Difference(now)
		if change.Empty() {
			return done, nil
		}
		if err := c.apply(ctx, change); err != nil {
			return done, err
		}
		done.Removed += len(change.Remove)
		done.Restored += len(change.Put)
	}
	return done, fmt.Errorf("%w: %d objects were removed and %d restored in %d rounds", ErrBusy, done.Removed, done.Restored, maxRounds)
}

// apply changes the store and waits until everybody knows. What is replaced goes before it
// comes back, so that it is seen going. What goes with its CRD goes when nobody serves it any more, so that
// the server does not read each of these objects to tell who watches them.
func (c *Cluster) apply(ctx context.Context, change baseline.Change) error {
	change, orphans := change.Orphans()
	removals, puts := change.Layers()
	knowing := make(chan informed.Stores, 1)
	go func() { knowing <- c.knowledge() }() // it takes milliseconds, as writing does
	var made changes
	for _, layers := range [][]baseline.Change{removals, puts} {
		if err := c.commit(ctx, layers, &made); err != nil {
			return err
		}
	}
	if err := c.converge(ctx, <-knowing, made); err != nil {
		return fmt.Errorf("wait until everybody knows of the reset: %w", err)
	}
	if len(orphans) == 0 {
		return nil
	}
	return c.commit(ctx, []baseline.Change{{Remove: orphans}}, &made)
}

// commit makes a transaction of each layer. Their order does not matter, so the store may
// handle several at a time.
func (c *Cluster) commit(ctx context.Context, layers []baseline.Change, made *changes) error {
	revisions := make([]int64, len(layers))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transactions)
	for i, layer := range layers {
		group.Go(func() error {
			keys := make([][]byte, len(layer.Remove))
			for i, o := range layer.Remove {
				keys[i] = o.Key
			}
			var err error
			revisions[i], err = c.store.Apply(ctx, keys, layer.Put)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, layer := range layers {
		made.add(layer, revisions[i])
	}
	return nil
}

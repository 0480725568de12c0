// Package rollback takes a store back to a baseline while an API server serves from it and other programs write to it.
//
//	way := rollback.Way{Store: store, Prefix: "/registry", Journal: journal, Watch: …}
//	done, err := way.Back(ctx, base)
//
// It goes in rounds. A round writes what differs, waits for those who follow the store, and compares again, since other
// programs may have written meanwhile. A round finishes its writes, whatever becomes of the caller. A [Journal] has the
// next start finish what the end of the process interrupted: a durable store is never left between two states.
package rollback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
)

const (
	// transactions bounds those under way. The store takes what waits for it in one go.
	transactions = 128
	// commitLimit bounds the writing of a round, which takes milliseconds.
	commitLimit = 30 * time.Second
	// maxRounds bounds a rollback against programs that do not stop writing.
	maxRounds = 10
)

var (
	// ErrBusy says that the store did not get back to the baseline, because a program wrote all the time.
	ErrBusy = errors.New("objects keep changing: a program is writing to the cluster")
	// ErrMarked says that the next start finishes the rollback, because the store did not let the journal end: the
	// process is to end, too.
	ErrMarked = errors.New("the next start of the cluster finishes the reset")
	// errCommit says that a part of what was to be written was not.
	errCommit = errors.New("the store did not take a change")
)

// Store is what is rolled back: an [*etcd.Server].
type Store interface {
	// Read returns all keys under prefix.
	Read(ctx context.Context, prefix string) (etcd.Snapshot, error)
	// Apply changes keys in one transaction, and returns its revision.
	Apply(ctx context.Context, remove [][]byte, put []etcd.Pair) (revision int64, err error)
}

// Changed is an object with the revision at which it was removed or restored.
type Changed struct {
	baseline.Object
	Revision int64
}

// Changes are what a round did.
type Changes struct{ Removed, Restored []Changed }

// Way is how a store gets back to a baseline.
type Way struct {
	Store   Store
	Prefix  string   // of the keys
	Journal *Journal // nil for a store that does not outlive the process
	// Prepare adapts the baseline to what the store holds before a round. May be nil.
	Prepare func(now etcd.Snapshot) error
	// Watch is called before a round writes; what it returns waits until everybody knows what was written. May be nil.
	Watch func() (await func(context.Context, Changes) error)
}

// Done is what a rollback did: how many objects it removed and gave their former content, and the revision at which the
// store was at the baseline. What programs have written since then has a later one.
type Done struct {
	Removed, Restored int
	Revision          int64
}

// Back takes the store to the baseline. After a failure the store may be between two states, and the next start leaves
// it there: it would take back what is written from now on. After [ErrMarked] it does not, and nothing more is to be
// written.
func (w Way) Back(ctx context.Context, base *baseline.Baseline) (done Done, err error) {
	done, err = w.rounds(ctx, base)
	if failed := w.Journal.end(ctx); failed != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", ErrMarked, failed))
	}
	return done, err
}

// rounds goes in rounds until the store is at the baseline.
func (w Way) rounds(ctx context.Context, base *baseline.Baseline) (done Done, err error) {
	for range maxRounds {
		change, revision, err := w.compare(ctx, base)
		if err == nil && change.Empty() {
			done.Revision = revision
			return done, nil
		}
		if err == nil {
			err = w.round(ctx, base, change)
		}
		if err != nil {
			return done, err
		}
		done.Removed += len(change.Remove)
		done.Restored += len(change.Put)
	}
	return done, fmt.Errorf("%w: %d objects were removed and %d restored in %d rounds", ErrBusy, done.Removed, done.Restored, maxRounds)
}

func (w Way) compare(ctx context.Context, base *baseline.Baseline) (_ baseline.Change, revision int64, err error) {
	now, err := w.Store.Read(ctx, w.Prefix+"/")
	if err == nil && w.Prepare != nil {
		err = w.Prepare(now)
	}
	if err != nil {
		return baseline.Change{}, 0, err
	}
	return base.Difference(now), now.Revision, nil
}

// round changes the store and waits until everybody knows. What is replaced goes before it
// comes back, so that it is seen going. What goes with its CRD goes when nobody serves it any more, so that
// the server does not read each of these objects to tell who watches them.
func (w Way) round(ctx context.Context, base *baseline.Baseline, change baseline.Change) error {
	if err := w.Journal.begin(ctx, base); err != nil {
		return err
	}
	await := func(context.Context, Changes) error { return nil }
	if w.Watch != nil {
		await = w.Watch()
	}
	change, orphans := change.Orphans()
	removals, puts := change.Layers()
	var made Changes
	for _, layers := range [][]baseline.Change{removals, puts} {
		if err := w.commit(ctx, layers, &made); err != nil {
			return err
		}
	}
	err := await(ctx, made)
	return errors.Join(err, w.commit(ctx, orphans, &made))
}

// commit makes a transaction of each layer. Their order does not matter, so the store may
// handle several at a time. It goes on when its caller does not wait any more.
func (w Way) commit(ctx context.Context, layers []baseline.Change, made *Changes) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	revisions := make([]int64, len(layers))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transactions)
	for i, layer := range layers {
		group.Go(func() (err error) {
			revisions[i], err = w.Store.Apply(ctx, keys(layer.Remove), layer.Put)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	for i, layer := range layers {
		made.add(layer, revisions[i])
	}
	return nil
}

func keys(objects []baseline.Object) [][]byte {
	all := make([][]byte, len(objects))
	for i, o := range objects {
		all[i] = o.Key
	}
	return all
}

func (c *Changes) add(layer baseline.Change, revision int64) {
	for _, o := range layer.Remove {
		c.Removed = append(c.Removed, Changed{o, revision})
	}
	for _, o := range layer.Restore {
		c.Restored = append(c.Restored, Changed{o, revision})
	}
}

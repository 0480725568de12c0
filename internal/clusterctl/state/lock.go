package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 20 * time.Millisecond

// waitQuietly is how long a lock is waited for before that is told: who only looks holds it for milliseconds.
const waitQuietly = 250 * time.Millisecond

// Hold waits until no other process starts or stops the cluster, or looks at it, and keeps others from
// it until release is called. It calls waiting once if it has to wait.
func (c Cluster) Hold(ctx context.Context, waiting func()) (release func(), err error) {
	return c.acquire(ctx, c.TryHold, waiting)
}

// Watch is Hold for those who only look at the cluster, of whom there can be several.
func (c Cluster) Watch(ctx context.Context, waiting func()) (release func(), err error) {
	return c.acquire(ctx, c.TryWatch, waiting)
}

func (c Cluster) acquire(ctx context.Context, try func() (func(), bool, error), waiting func()) (release func(), err error) {
	tell := time.NewTimer(waitQuietly)
	defer tell.Stop()
	for {
		release, ok, err := try()
		if err != nil || ok {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tell.C:
			waiting()
		case <-time.After(lockPoll):
		}
	}
}

// TryHold is Hold for those who do not wait: ok is false when another process is
// starting or stopping the cluster, or looks at it.
func (c Cluster) TryHold() (release func(), ok bool, err error) {
	if err := os.MkdirAll(filepath.Dir(c.lock), 0o700); err != nil {
		return nil, false, denied(err)
	}
	return taken((*flock.Flock).TryLock, newLock(c.lock))
}

// TryWatch is Watch for those who do not wait: ok is false when another process is starting or stopping the cluster. It
// writes nothing for a cluster that no process ever held.
func (c Cluster) TryWatch() (release func(), ok bool, err error) {
	if _, err := os.Stat(c.lock); errors.Is(err, fs.ErrNotExist) {
		return func() {}, true, nil
	}
	return taken((*flock.Flock).TryRLock, newLock(c.lock))
}

func taken(try func(*flock.Flock) (bool, error), l *flock.Flock) (release func(), ok bool, err error) {
	if ok, err = try(l); err != nil {
		return nil, false, denied(err)
	}
	return func() { _ = l.Unlock() }, ok, nil
}

// Alive reports whether the program runs. The caller must [Cluster.Hold] or [Cluster.Watch] the
// cluster: to look, the lock is taken for a moment, shared with others who look, which must not meet a
// program that starts.
func (c Cluster) Alive() (bool, error) {
	if _, err := os.Stat(c.programLock()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	release, free, err := taken((*flock.Flock).TryRLock, newLock(c.programLock()))
	if free {
		release()
	}
	return !free, err
}

// WaitDead waits until the program is gone or ctx is done.
func (c Cluster) WaitDead(ctx context.Context) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		alive, err := c.Alive()
		if err != nil || !alive {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func newLock(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o600)) }

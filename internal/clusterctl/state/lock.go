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

// Hold waits until nobody else starts or stops the cluster and keeps others from
// it until release is called. It calls waiting once if it has to wait.
func (c Cluster) Hold(ctx context.Context, waiting func()) (release func(), err error) {
	release, ok, err := c.TryHold()
	if err != nil || ok {
		return release, err
	}
	waiting()
	l := newLock(c.lock)
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}

// TryHold is Hold for those who do not wait: ok is false when somebody else is
// starting or stopping the cluster.
func (c Cluster) TryHold() (release func(), ok bool, err error) {
	if err := os.MkdirAll(filepath.Dir(c.lock), 0o700); err != nil {
		return nil, false, denied(err)
	}
	l := newLock(c.lock)
	ok, err = l.TryLock()
	if err != nil {
		return nil, false, denied(err)
	}
	return func() { _ = l.Unlock() }, ok, nil
}

// Alive tells whether the program runs. The caller must [Cluster.Hold] the
// cluster: to look, the lock is taken for a moment, which must not meet a
// program that starts.
func (c Cluster) Alive() (bool, error) {
	if _, err := os.Stat(c.programLock()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	l := newLock(c.programLock())
	free, err := l.TryLock()
	if err != nil {
		return false, denied(err)
	}
	if free {
		_ = l.Unlock()
	}
	return !free, nil
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

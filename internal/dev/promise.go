package dev

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A promise is the file in which a run says what it has to take back in a cluster. It is on the disk before the first
// change is made, and goes when all is taken back; one whose run has ended is kept by the next command, see [TakeBack].
// Whether the run has ended is told by a lock, which the system releases however it ends.
type promise struct {
	path string
	lock *flock.Flock
}

const (
	promiseSuffix = ".json"
	lockSuffix    = ".lock"
	maxPromise    = 8 << 20 // a definition's conversion and its owners, many times
)

// promises is the folder in which they are, in the user's state.
func promises(state string) string { return filepath.Join(state, "runs") }

// promising is the one promise that may be made of a project in a cluster. Another run's is an error.
func promising(ctx context.Context, state, project string, cluster *ship.Cluster) (*promise, error) {
	dir := promises(state)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("record the webhooks to restore: %w", err)
	}
	sum := sha256.Sum256([]byte(cluster.Key(ctx) + "\n" + project))
	path := filepath.Join(dir, hex.EncodeToString(sum[:16])+promiseSuffix)
	p := &promise{path, lockOf(path)}
	held, err := p.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("record the webhooks to restore: %w", err)
	}
	if !held {
		return nil, &report.Error{
			Class: report.Conflict,
			What:  "another slipway run of this project already serves its webhooks to this cluster", Where: cluster.Server(),
			Hint: "stop it, or run this one without webhooks", Next: "ENABLE_WEBHOOKS=false slipway run",
		}
	}
	return p, nil
}

// lockOf is the lock of the promise at path.
func lockOf(path string) *flock.Flock {
	return flock.New(strings.TrimSuffix(path, promiseSuffix)+lockSuffix, flock.SetPermissions(0o600))
}

// make writes down what is to be taken back. When it returns, that outlasts the machine.
func (p *promise) make(d *ship.Detour) error {
	text, err := json.Marshal(d)
	if err == nil && len(text) > maxPromise {
		err = fmt.Errorf("it has %d bytes; the limit is %d", len(text), maxPromise)
	}
	if err == nil {
		err = safefs.Write(p.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record the webhooks to restore: %w", err)
	}
	return nil
}

// read returns what is to be taken back; nil if that is nothing.
func (p *promise) read() (*ship.Detour, error) {
	file, err := os.Open(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	d := &ship.Detour{}
	if err := json.NewDecoder(io.LimitReader(file, maxPromise)).Decode(d); err != nil {
		return nil, &report.Error{What: "cannot read the webhooks that an earlier slipway run has to restore", Where: p.path, Err: err,
			Hint: "delete the webhook configurations with -run- in their names from the cluster, then delete the file"}
	}
	return d, nil
}

// keep takes back what was promised, and forgets it if that is done. The cluster's address may lead to another one now.
func (p *promise) keep(ctx context.Context, cluster *ship.Cluster, d *ship.Detour) error {
	if !d.Made(ctx, cluster) {
		return fmt.Errorf("%s does not answer any more, or is another cluster", cluster.Server())
	}
	if err := cluster.TakeBack(ctx, d); err != nil {
		return err
	}
	if err := os.Remove(p.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// release lets others promise. The file of the lock stays: who removes one that another waits for has two hold it.
func (p *promise) release() error { return p.lock.Unlock() }

// TakeBack takes back in a cluster what runs changed there that have ended without doing so, as when they were killed.
// The state is the folder in which runs keep their promises. A run that goes on is left alone.
func TakeBack(ctx context.Context, state string, cluster *ship.Cluster, h report.Handler) error {
	return eachBroken(ctx, state, cluster, func(p *promise, d *ship.Detour) error {
		ctx, cancel := context.WithTimeout(ctx, takeBackPatience)
		defer cancel()
		if err := p.keep(ctx, cluster, d); err != nil {
			return &report.Error{What: "cannot restore " + changed(d) + " after an earlier slipway run, which was killed", Where: cluster.Server(), Err: err,
				Hint: "the next command on this cluster tries again"}
		}
		h.Handle(report.Note{Text: "restored " + changed(d) + ", since an earlier slipway run was killed"})
		return nil
	})
}

// Promised reports whether there is any promise in a state folder, so that there is a reason to look for its cluster.
func Promised(state string) bool {
	paths, _ := filepath.Glob(filepath.Join(promises(state), "*"+promiseSuffix)) // the pattern is a good one
	return len(paths) > 0
}

// Owed says what there is that [TakeBack] would take back; empty for nothing.
func Owed(ctx context.Context, state string, cluster *ship.Cluster) (owed []string, err error) {
	err = eachBroken(ctx, state, cluster, func(_ *promise, d *ship.Detour) error {
		text := "the cluster still calls webhooks of a slipway run that was killed"
		if pauses := d.Pauses(); len(pauses) > 0 {
			text = "a slipway run that was killed has left the deployed operator (" + strings.Join(pauses, ", ") + ") without replicas"
		}
		owed = append(owed, text)
		return nil
	})
	return owed, err
}

// eachBroken calls do with each promise about the cluster that was neither kept nor is being kept. Without promises, as
// nearly always, the cluster is not asked.
func eachBroken(ctx context.Context, state string, cluster *ship.Cluster, do func(*promise, *ship.Detour) error) error {
	paths, err := filepath.Glob(filepath.Join(promises(state), "*"+promiseSuffix))
	if err != nil {
		return err
	}
	for _, path := range paths {
		p := &promise{path, lockOf(path)}
		held, err := p.lock.TryLock()
		if err != nil {
			return fmt.Errorf("look for webhooks that earlier runs have to restore: %w", err)
		}
		if !held {
			continue
		}
		d, err := p.read()
		if err == nil && d != nil && d.Made(ctx, cluster) {
			err = do(p, d)
		}
		if err := errors.Join(err, p.release()); err != nil {
			return err
		}
	}
	return nil
}

// Package lock keeps two commands from changing the same project at the same time, and takes back what a
// command left that was killed.
package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
)

// holdPoll is how often a command that waits for another one looks again.
const holdPoll = 50 * time.Millisecond

// Hold makes sure that nobody else changes the project in folder root until release is
// called: a plan is made and applied in between. It waits for another command, and tells
// h so. Then it takes back what a command left that was killed.
//
// The locks are files in folder locks, one of the user's own, so that none is left in
// the project; the system frees that of a process that dies.
func Hold(ctx context.Context, root, locks string, h report.Handler) (release func(), err error) {
	lock, err := projectLock(root, locks)
	if err != nil {
		return nil, err
	}
	got, err := lock.TryLock()
	if err == nil && !got {
		h.Handle(report.Note{Text: "another slipway is changing this project; waiting until it is done (Ctrl-C to stop)"})
		_, err = lock.TryLockContext(ctx, holdPoll)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, unlockable(lock.Path(), err)
	}
	release = func() { _ = lock.Unlock() } // the system frees it at the latest when the process ends
	if err := takeBack(root, h); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// projectLock is the lock of the project, whichever way its folder is reached.
func projectLock(root, locks string) (*flock.Flock, error) {
	path, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("lock the project: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(locks, 0o700); err != nil {
		return nil, unlockable(locks, err)
	}
	sum := sha256.Sum256([]byte(path))
	return flock.New(filepath.Join(locks, hex.EncodeToString(sum[:8])+".lock"), flock.SetPermissions(0o600)), nil
}

func unlockable(path string, err error) error {
	return &report.Error{
		What: "the project cannot be locked against other commands", Where: path, Err: err,
		Hint: "SLIPWAY_CACHE names a folder for such files that is yours to write; nothing was changed",
	}
}

// takeBack restores what a command that was killed has changed.
func takeBack(root string, h report.Handler) error {
	restored, err := transaction.Recover(transaction.OS{}, root)
	if err != nil {
		return &report.Error{
			What: "an earlier command was interrupted, and what it left cannot be taken back", Where: filepath.Join(root, ".slipway", "pending"), Err: err,
			Hint: "mend the cause and run the command again; or restore the files from version control and remove that folder",
			Next: "git status",
		}
	}
	if len(restored) > 0 {
		h.Handle(report.Note{Text: fmt.Sprintf("an earlier command was interrupted; what it had changed was taken back: %d files", len(restored))})
	}
	return nil
}

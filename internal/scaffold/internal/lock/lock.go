// Package lock ensures that only one command changes a project at a time, and reverts what a killed command left.
//
// It uses the system's lock on the project's folder. That holds whatever path leads to the folder: a link, another
// case, or a mount in a container. It leaves nothing in the project, and the system releases it when the process ends.
// Windows and some network file systems cannot lock folders. There, it locks a file of the user that is named by the
// folder's number in the file system.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
)

// holdPoll is the interval at which a waiting command tries again.
const holdPoll = 50 * time.Millisecond

// Folders are folders of the user, outside of the project.
type Folders struct {
	// Keys has the key that seals transactions; see package transaction.
	Keys string
	// Locks returns the folder of lock files, for folders that cannot be locked.
	Locks func() (string, error)
}

// Hold keeps other processes from changing the project until release is called. Callers make and apply a plan in
// between. Hold waits for another command, and reports that to h. Then it reverts what a killed command left.
func Hold(ctx context.Context, root string, own Folders, h report.Handler) (release func(), err error) {
	lock, got, err := tryLock(root, own.Locks, h)
	if err == nil && !got {
		h.Handle(report.Note{Text: "another slipway is changing this project; waiting for it (Ctrl-C to stop)"})
		_, err = lock.TryLockContext(ctx, holdPoll)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, unlockable(root, err)
	}
	release = func() { _ = lock.Unlock() } // the system releases it when the process ends
	if err := takeBack(root, own.Keys, h); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// tryLock locks the folder or, if that is impossible, the file for it.
func tryLock(root string, locks func() (string, error), h report.Handler) (lock *flock.Flock, got bool, err error) {
	if runtime.GOOS != "windows" {
		lock = flock.New(root, flock.SetFlag(os.O_RDONLY))
		got, err = lock.TryLock()
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return lock, got, err
		}
		h.Handle(report.Note{Text: "this file system has no locks: commands of other users, machines or containers must not change the project now"})
	}
	if lock, err = standIn(root, locks); err != nil {
		return nil, false, err
	}
	got, err = lock.TryLock()
	return lock, got, err
}

// standIn returns the lock of a file that stands for the folder, whatever path leads to that.
func standIn(root string, locks func() (string, error)) (*flock.Flock, error) {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	volume, number, err := transaction.Identity(folder)
	if err != nil {
		return nil, err
	}
	dir, err := locks()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return flock.New(filepath.Join(dir, volume+"-"+number+".lock"), flock.SetPermissions(0o600)), nil
}

func unlockable(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		path = pe.Path
	}
	return &report.Error{
		What: "the project cannot be locked against other commands", Where: path, Err: err,
		Hint: "you need permission to read and write the folder; nothing was changed",
	}
}

// takeBack reverts what a killed command left.
func takeBack(root, keys string, h report.Handler) error {
	var key transaction.Key
	if transaction.Interrupted(root) {
		key, _ = transaction.ReadKey(keys) // without a key, nothing of the user's can be there
	}
	restored, err := transaction.Recover(transaction.OS{}, root, key)
	if foreign, ok := errors.AsType[*transaction.ForeignError](err); ok {
		return notOurs(root, foreign)
	}
	if err != nil {
		return &report.Error{
			What: "an earlier command was interrupted, and its changes cannot be reverted", Where: pending(root), Err: err,
			Hint: "correct the cause and run the command again; or restore the files from version control and delete that folder",
			Next: "git status",
		}
	}
	if len(restored) > 0 {
		h.Handle(report.Note{Text: fmt.Sprintf("an earlier command was interrupted; its changes were reverted: %d files", len(restored))})
	}
	return nil
}

func pending(root string) string { return filepath.Join(root, ".slipway", "pending") }

// notOurs explains a foreign transaction, which stays as it is.
func notOurs(root string, foreign *transaction.ForeignError) error {
	e := &report.Error{
		Class: report.Conflict,
		What:  "the project has traces of an interrupted command of another user or machine", Where: pending(root), Err: foreign,
		Hint: "slipway did not use them. They came with the repository, or a command that still runs or was killed left them.\n" +
			"If none runs, compare the files with version control, delete that folder and run the command again",
		Next: "git status",
	}
	if errors.Is(foreign, transaction.ErrCopied) {
		e.What = "the project is a copy of one in which a command was interrupted"
		e.Hint = "some files are new and some are old; restore them from version control, delete that folder and run the command again"
	}
	return e
}

package session

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// pattern is how the folders of sessions are called, for [os.MkdirTemp].
const pattern = "slipway-test-*"

// abandoned is the age from which a folder whose lock is free is left over, and
// not one that is about to begin.
const abandoned = time.Minute

// sweep removes the folders of sessions in dir whose processes were killed: their
// programs have ended by themselves, but their data stay. Other
// users' folders are not looked into: opening a lock that is a pipe would never end.
func sweep(dir string) {
	left, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return // the name of the temporary folder is no pattern
	}
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !isOwn(info) || time.Since(info.ModTime()) < abandoned {
			continue
		}
		if free(filepath.Join(dir, "lock")) {
			_ = os.RemoveAll(dir)
		}
	}
}

// newDir makes the folder of a new session, and removes what is left of others.
func newDir() (string, error) {
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", &fault.Error{What: "cannot create a folder for the cluster", Where: os.TempDir(), Err: errors.Unwrap(err),
			Hint: "set TMPDIR to a folder that you may write to"}
	}
	return dir, nil
}

// Claim makes a folder as a session has it for a test that has no program of its own: it holds the
// lock itself. Release removes the folder.
func Claim() (dir string, release func() error, err error) {
	if dir, err = newDir(); err != nil {
		return "", nil, err
	}
	l := flock.New(filepath.Join(dir, "lock"))
	if ok, err := l.TryLock(); err != nil || !ok {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(l.Unlock(), os.RemoveAll(dir)) }, nil
}

// free tells whether nobody holds the lock at path. The program holds it for as
// long as it lives, whatever happened to its starter.
func free(path string) bool {
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return true
	}
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	ok, err := l.TryLock()
	if err != nil || !ok {
		return false
	}
	return l.Unlock() == nil
}

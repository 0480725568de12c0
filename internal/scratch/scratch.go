// Package scratch makes folders for temporary files that do not outlive their command, also when it is killed: the next
// command that makes one removes those whose owner is gone.
//
//	folder, err := scratch.New("slipway-run-")
//	defer folder.Remove()
//	os.WriteFile(filepath.Join(folder.Path, "key"), …)
//
// A folder is its user's alone. A lock in it says that it is in use; the system lets go of it when the process ends.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/owner"
)

const (
	// lockName is the file by which a folder is seen to be in use.
	lockName = ".in-use"
	// begun is how old a folder is that its owner has locked, unless the owner was killed.
	begun = time.Minute
	// unlocked is how old a folder without a lock is before it is taken for one that a process left which did not know
	// of locks.
	unlocked = 7 * 24 * time.Hour
)

// Folder is one for temporary files. The zero value is none.
type Folder struct {
	Path string
	lock *flock.Flock
}

// New makes a folder where the system keeps temporary files, whose name begins with a prefix. It removes those of the
// same prefix that killed commands of this user have left.
func New(prefix string) (Folder, error) {
	sweep(prefix)
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return Folder{}, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	f := Folder{path, flock.New(filepath.Join(path, lockName))}
	if _, err := f.lock.TryLock(); err != nil {
		return Folder{}, errors.Join(fmt.Errorf("lock a folder for temporary files: %w", err), f.Remove())
	}
	return f, nil
}

// Remove removes the folder with all that is in it.
func (f Folder) Remove() error {
	if f.Path == "" {
		return nil
	}
	return errors.Join(f.lock.Close(), os.RemoveAll(f.Path))
}

// sweep removes what is left over. What cannot be removed stays, and another user's folders are not looked at.
func sweep(prefix string) {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return // the name of the folder for temporary files is no pattern
	}
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && owner.IsUser(info) {
			sweepOne(path, time.Since(info.ModTime()))
		}
	}
}

func sweepOne(path string, age time.Duration) {
	lockFile := filepath.Join(path, lockName)
	info, err := os.Lstat(lockFile)
	if err != nil || !info.Mode().IsRegular() {
		if age > unlocked {
			_ = os.RemoveAll(path)
		}
		return
	}
	if age <= begun {
		return
	}
	lock := flock.New(lockFile)
	if free, err := lock.TryLock(); free && err == nil {
		_ = os.RemoveAll(path)
	}
	_ = lock.Close()
}

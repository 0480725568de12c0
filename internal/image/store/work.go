package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	// begun is how old the folder of a piece of work is that whoever made it has locked, unless he was killed.
	begun = time.Minute
	// unused is how long a compiled program stays that is not built any more. Building it touches it.
	unused = 30 * 24 * time.Hour
)

// lockName is the file by which the folder of a piece of work is seen to be in use.
const lockName = ".in-use"

// Temp makes a folder for one piece of work, on the same disk; done removes it.
func (s Store) Temp() (dir string, done func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(s.Dir, "work-"); err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(dir, lockName))
	if _, err := lock.TryLock(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() {
		_ = lock.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

// ProgramFile is the name of a compiled program in its folder.
const ProgramFile = "manager"

// Program is the folder of a compiled program, by the name that it is to have. No other process compiles into it or
// removes it until the lock is closed.
func (s Store) Program(ctx context.Context, key string) (lock *flock.Flock, dir string, err error) {
	dir = filepath.Join(s.Programs(), key)
	for {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, "", err
		}
		lock := flock.New(filepath.Join(dir, programLock))
		_, err := lock.TryLockContext(ctx, 50*time.Millisecond)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed just now
		case err != nil:
			return nil, "", err
		case isThere(lock):
			return lock, dir, nil
		default:
			_ = lock.Close() // it was removed by the one that had it
		}
	}
}

// programLock is the file that is locked while a program is compiled or read.
const programLock = "lock"

// isThere says whether the file that is locked is still the one of that name.
func isThere(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(locked, now)
}

// Tidy removes what killed processes have left, and programs that were not built for long. A folder in use
// stays, and so does what cannot be removed.
func (s Store) Tidy() {
	remove(filepath.Join(s.Dir, "work-*"), "", lockName, begun)
	remove(filepath.Join(s.Programs(), "*"), ProgramFile, programLock, unused)
}

// remove removes the folders that match a pattern and whose lock is free, by the age of a file in them, or of the
// folder itself if there is none.
func remove(pattern, file, lockFile string, age time.Duration) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return
	}
	for _, dir := range found {
		changed, ok := lastChange(filepath.Join(dir, file))
		if !ok {
			changed, ok = lastChange(dir)
		}
		if !ok || time.Since(changed) <= age {
			continue
		}
		lock := flock.New(filepath.Join(dir, lockFile))
		if alone, err := lock.TryLock(); alone && err == nil && !renewed(dir, file, age) {
			discard(dir)
		}
		_ = lock.Close()
	}
}

// renewed reports whether a file was made anew by another one, who had the lock until now.
func renewed(dir, file string, age time.Duration) bool {
	if file == "" {
		return false
	}
	changed, ok := lastChange(filepath.Join(dir, file))
	return ok && time.Since(changed) <= age
}

func lastChange(path string) (at time.Time, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return at, false
	}
	return info.ModTime(), true
}

// discard removes a folder whose lock is held. It loses its name first: who waits for the lock, or comes now, makes a
// folder anew, of which nothing is removed.
func discard(dir string) {
	const gone = ".gone"
	if strings.HasSuffix(dir, gone) || os.Rename(dir, dir+gone) != nil {
		_ = os.RemoveAll(dir)
		return
	}
	_ = os.RemoveAll(dir + gone)
}

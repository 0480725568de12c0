package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/userdirs"
)

// unused is how long a compiled program stays that is not built any more. Building it touches it.
const unused = 30 * 24 * time.Hour

// The beginnings of names of folders that last no longer than their command.
const (
	workPrefix = "work-" // of pieces of work
	gonePrefix = "gone-" // in which a program is removed
)

// Temp makes a folder for one piece of work, on the same disk; done removes it.
func (s Store) Temp() (dir string, done func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", nil, err
	}
	folder, err := userdirs.ScratchIn(s.Dir, workPrefix)
	if err != nil {
		return "", nil, err
	}
	return folder.Path, func() { _ = folder.Remove() }, nil
}

// ProgramFile is the name of a compiled program in its folder.
const ProgramFile = "manager"

// Program is the folder of a compiled program, by the name that it is to have. No other process compiles into it or
// removes it until the lock is closed.
func (s Store) Program(ctx context.Context, key string) (lock *flock.Flock, dir string, err error) {
	dir = filepath.Join(s.Programs(), key)
	for {
		if err := s.makeProgram(dir); err != nil {
			return nil, "", err
		}
		lock := flock.New(filepath.Join(dir, programLock))
		_, err := lock.TryLockContext(ctx, 50*time.Millisecond)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed just now
		case err != nil:
			return nil, "", err
		case userdirs.IsThere(lock):
			return lock, dir, nil
		default:
			_ = lock.Close() // it was removed by the one that had it
		}
	}
}

// makeProgram makes the folder of a program, unless it is there.
func (s Store) makeProgram(dir string) error {
	if err := os.MkdirAll(s.Programs(), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return userdirs.Mark(dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// programLock is the file that is locked while a program is compiled or read.
const programLock = "lock"

// Tidy removes what killed processes have left, and programs that were not built for long. A folder in use
// stays, and so does what cannot be removed.
func (s Store) Tidy() {
	userdirs.Sweep(s.Dir, workPrefix)
	userdirs.Sweep(s.Programs(), gonePrefix)
	entries, err := os.ReadDir(s.Programs())
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		s.forget(filepath.Join(s.Programs(), e.Name()))
	}
}

// forget removes the folder of a program that was not built for long, unless the program is being built or read.
func (s Store) forget(dir string) {
	if !userdirs.Marked(dir) || !isUnused(dir) {
		return
	}
	lock := flock.New(filepath.Join(dir, programLock))
	defer func() { _ = lock.Close() }()
	if alone, err := lock.TryLock(); alone && err == nil && userdirs.IsThere(lock) && isUnused(dir) {
		s.discardProgram(dir)
	}
}

// isUnused goes by the program's age, or by that of the folder if there is no program.
func isUnused(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ProgramFile))
	if err != nil {
		info, err = os.Stat(dir)
	}
	return err == nil && time.Since(info.ModTime()) > unused
}

// discardProgram removes a folder whose lock is held. It loses its name first: who waits for the lock, or comes now,
// makes a folder anew, of which nothing is removed.
func (s Store) discardProgram(dir string) {
	gone, err := userdirs.ScratchIn(s.Programs(), gonePrefix)
	if err != nil {
		return
	}
	if os.Rename(dir, filepath.Join(gone.Path, filepath.Base(dir))) != nil {
		_ = userdirs.Remove(dir) // some systems rename no folder in which a file is open
	}
	_ = gone.Remove()
}

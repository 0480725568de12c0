package userdirs

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// lockName is the file by which a folder is seen to be in use.
const lockName = ".in-use"

// A Scratch is a folder for temporary files. The zero value is none.
type Scratch struct {
	Path string
	made fs.FileInfo // what has to be there when it is removed
	lock *flock.Flock
}

// NewScratch makes a folder where the system keeps temporary files, whose name begins with a prefix, after a [Sweep] of
// that prefix.
func NewScratch(prefix string) (Scratch, error) {
	Sweep(os.TempDir(), prefix)
	return ScratchIn(os.TempDir(), prefix)
}

// ScratchIn makes a folder in another one.
func ScratchIn(parent, prefix string) (Scratch, error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return Scratch{}, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	f := Scratch{Path: path, lock: flock.New(filepath.Join(path, lockName))}
	if _, err = f.lock.TryLock(); err == nil {
		err = Mark(path)
	}
	if err == nil {
		f.made, err = os.Lstat(path)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("mark a folder for temporary files: %w", err), f.lock.Close(), os.RemoveAll(path))
		return Scratch{}, err
	}
	return f, nil
}

// Sweep removes the folders of a prefix that killed commands of this user have left in parent. Those that cannot be
// removed stay.
func Sweep(parent, prefix string) {
	for left := range Left(parent, prefix) {
		_ = left.Remove()
	}
}

// Left are the folders of a prefix that killed commands of this user have left in parent. Who gets one has its lock,
// and removes or releases it.
func Left(parent, prefix string) iter.Seq[Scratch] {
	return func(yield func(Scratch) bool) {
		entries, err := os.ReadDir(parent)
		if err != nil {
			return // nothing can be seen there, and nothing is removed
		}
		for _, e := range entries {
			if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
				continue
			}
			if f, ok := left(filepath.Join(parent, e.Name())); ok && !yield(f) {
				return
			}
		}
	}
}

// left takes the lock of a folder with a mark, if no command has it.
func left(path string) (f Scratch, ok bool) {
	if !Marked(path) {
		return f, false
	}
	file := filepath.Join(path, lockName)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return f, false
	}
	f = Scratch{Path: path, lock: flock.New(file, flock.SetFlag(os.O_RDWR))} // which makes none
	if free, err := f.lock.TryLock(); free && err == nil && IsThere(f.lock) {
		if f.made, err = os.Lstat(path); err == nil && Marked(path) {
			return f, true
		}
	}
	f.Release()
	return Scratch{}, false
}

// IsThere reports whether the file that is locked is still the one of that name: who had the lock before may have
// removed it.
func IsThere(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(locked, now)
}

// Release lets go of the folder, which stays.
func (f Scratch) Release() { _ = f.lock.Close() }

// Remove removes the folder with all that is in it.
func (f Scratch) Remove() error {
	if f.Path == "" {
		return nil
	}
	defer f.Release()
	return remove(f.Path, f.made, f.lock)
}

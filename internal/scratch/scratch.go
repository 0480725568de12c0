// Package scratch makes folders that slipway removes again, and decides which folders slipway may remove: those that
// bear its mark, and no others. A name proves nothing, and neither does a lock that is missing or free: users call
// their projects what they like.
//
//	folder, err := scratch.New("slipway-run-")
//	defer folder.Remove()
//	os.WriteFile(filepath.Join(folder.Path, "key"), …)
//
// A folder made here is its user's alone and goes with its command, also when that is killed: the next command that
// makes one of the same prefix removes it. A lock in it says that it is in use; the system lets go of it when the
// process ends. The lock is taken before the mark is written, so a folder with a mark and a free lock is left over.
package scratch

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

// Folder is one for temporary files. The zero value is none.
type Folder struct {
	Path string
	made fs.FileInfo // what has to be there when it is removed
	lock *flock.Flock
}

// New makes a folder where the system keeps temporary files, whose name begins with a prefix, after a [Sweep] of that
// prefix.
func New(prefix string) (Folder, error) {
	Sweep(os.TempDir(), prefix)
	return In(os.TempDir(), prefix)
}

// In makes a folder in another one.
func In(parent, prefix string) (Folder, error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return Folder{}, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	f := Folder{Path: path, lock: flock.New(filepath.Join(path, lockName))}
	if _, err = f.lock.TryLock(); err == nil {
		err = Mark(path)
	}
	if err == nil {
		f.made, err = os.Lstat(path)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("mark a folder for temporary files: %w", err), f.lock.Close(), os.RemoveAll(path))
		return Folder{}, err
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
func Left(parent, prefix string) iter.Seq[Folder] {
	return func(yield func(Folder) bool) {
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
func left(path string) (f Folder, ok bool) {
	if !Marked(path) {
		return f, false
	}
	file := filepath.Join(path, lockName)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return f, false
	}
	f = Folder{Path: path, lock: flock.New(file, flock.SetFlag(os.O_RDWR))} // which makes none
	if free, err := f.lock.TryLock(); free && err == nil && IsThere(f.lock) {
		if f.made, err = os.Lstat(path); err == nil && Marked(path) {
			return f, true
		}
	}
	f.Release()
	return Folder{}, false
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
func (f Folder) Release() { _ = f.lock.Close() }

// Remove removes the folder with all that is in it.
func (f Folder) Remove() error {
	if f.Path == "" {
		return nil
	}
	defer f.Release()
	return remove(f.Path, f.made, f.lock)
}

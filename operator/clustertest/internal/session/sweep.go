package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// prefix begins the names of the folders of sessions.
const prefix = "slipway-test-"

const (
	// holderName is the file that the process which made a folder has locked for as long as it lives. It is locked
	// before the mark is written.
	holderName = ".in-use"
	// programName is the file that the cluster program has locked for as long as it lives, whatever happened to its
	// starter.
	programName = "lock"
)

// abandoned is the age from which a folder whose locks are free is left over, and not one whose program is about to
// begin: it outlives a starter that was killed for a moment.
const abandoned = time.Minute

// folder is one of a session, in use by this process.
type folder struct {
	path string
	made fs.FileInfo // what has to be there when it is removed
	held *flock.Flock
}

// newFolder makes the folder of a new session, and removes what is left of others.
func newFolder() (folder, error) {
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return folder{}, &fault.Error{What: "cannot create a folder for the cluster", Where: os.TempDir(), Err: errors.Unwrap(err),
			Hint: "set TMPDIR to a folder that you may write to"}
	}
	f := folder{path: dir, held: flock.New(filepath.Join(dir, holderName))}
	if _, err = f.held.TryLock(); err == nil {
		err = mark(dir)
	}
	if err == nil {
		f.made, err = os.Lstat(dir)
	}
	if err != nil {
		return folder{}, errors.Join(err, f.held.Close(), os.RemoveAll(dir))
	}
	return f, nil
}

// Claim makes a folder as a session has it for a test that has no program of its own. Release removes the folder.
func Claim() (dir string, release func() error, err error) {
	f, err := newFolder()
	if err != nil {
		return "", nil, err
	}
	return f.path, f.remove, nil
}

// sweep removes the folders of sessions in dir whose processes were killed: their programs have ended by themselves,
// but their data stay. A folder has to have the mark; what it is called and which locks are missing prove nothing.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // nothing can be seen there, and nothing is removed
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			sweepOne(filepath.Join(dir, e.Name()))
		}
	}
}

func sweepOne(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || time.Since(info.ModTime()) < abandoned || !isMarked(dir) {
		return
	}
	holder, program := existing(dir, holderName), existing(dir, programName)
	if holder == nil {
		return
	}
	f := folder{dir, info, holder}
	if isFree(holder) && (program == nil || isFree(program)) && isMarked(dir) {
		if program != nil {
			_ = program.Close()
		}
		_ = f.remove()
	}
	_ = holder.Close()
}

// existing is the lock of a file in a folder; nil if there is none.
func existing(dir, name string) *flock.Flock {
	path := filepath.Join(dir, name)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return flock.New(path, flock.SetFlag(os.O_RDWR)) // which makes none
}

// isFree takes a lock that no process has, if its file is still the one of that name.
func isFree(lock *flock.Flock) bool {
	if ok, err := lock.TryLock(); !ok || err != nil {
		return false
	}
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(lock.Path())
	return err == nil && os.SameFile(locked, now)
}

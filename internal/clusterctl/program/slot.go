package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
)

// slot is the place in the cache for the programs built from one state of the sources.
type slot struct{ dir string }

// slot returns the place for what is built from src.
func (f *Finder) slot(src source) (slot, error) {
	key, err := src.key()
	if err != nil {
		return slot{}, fmt.Errorf("read the cluster program's sources: %w", err)
	}
	root, err := f.cacheDir()
	if err != nil {
		return slot{}, err
	}
	return slot{filepath.Join(root, "programs", key)}, nil
}

// cacheDir is slipway's folder in the user's cache.
func (f *Finder) cacheDir() (string, error) {
	if dir := f.Getenv("SLIPWAY_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", &report.Error{What: "no place to keep the cluster program", Err: err, Hint: "set SLIPWAY_CACHE to a folder of yours"}
	}
	return filepath.Join(dir, "slipway"), nil
}

func (s slot) program() string { return s.file(name) }

func (s slot) file(program string) string { return filepath.Join(s.dir, fileName(program)) }

func (s slot) filled() bool { return isFile(s.file(kubectlName)) && isFile(s.program()) }

// touch marks the program as used, which keeps it in the cache. In a cache that
// cannot be written nothing is ever pruned, so a failure does not matter.
func (s slot) touch() {
	now := time.Now()
	_ = os.Chtimes(s.program(), now, now)
}

// prepare makes the slot's folder.
func (s slot) prepare() error { return unusable(os.MkdirAll(s.dir, 0o755)) }

// unusable explains a failure to write into the cache.
func unusable(err error) error {
	if err == nil {
		return nil
	}
	e := &report.Error{What: "cannot use the cache folder", Err: err, Hint: "a folder that you may write; SLIPWAY_CACHE names another one"}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		e.Where, e.Err = p.Path, p.Err
	}
	return e
}

// workshop makes a folder to build in, in place of what builds that were killed
// left. The caller holds the slot.
func (s slot) workshop() (dir string, err error) {
	dir = filepath.Join(s.dir, "build")
	if err := os.RemoveAll(dir); err != nil {
		return "", unusable(err)
	}
	return dir, unusable(os.Mkdir(dir, 0o755))
}

// lockPoll is how often a build that waits for another one looks again.
const lockPoll = 100 * time.Millisecond

// hold keeps others from filling the slot until release is called.
func (s slot) hold(ctx context.Context, h report.Handler) (release func(), err error) {
	path := s.dir + ".lock"
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, unusable(err)
	}
	if !ok {
		h.Handle(report.Note{Text: "another slipway" + holder(path) + " builds the cluster program; waiting for it"})
		if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
			return nil, err
		}
	}
	// For the message of those who wait; whether it can be read is no matter.
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600)
	return func() { _ = l.Unlock() }, nil
}

// holder names the process that holds the lock at path, if it left its id.
func holder(path string) string {
	text, err := os.ReadFile(path)
	pid := strings.TrimSpace(string(text))
	if err != nil || pid == "" {
		return ""
	}
	return " (process " + pid + ")"
}

// kept is how many programs stay in the cache: they are large, and a developer of
// the cluster makes many.
const kept = 4

// prune removes the programs that were not built or used for the longest time.
func (s slot) prune() error {
	root := filepath.Dir(s.dir)
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	type aged struct {
		slot
		used time.Time
	}
	var others []aged
	for _, e := range entries {
		other := slot{filepath.Join(root, e.Name())}
		if info, err := os.Stat(other.program()); err == nil && other != s {
			others = append(others, aged{other, info.ModTime()})
		}
	}
	slices.SortFunc(others, func(a, b aged) int { return b.used.Compare(a.used) })
	var errs []error
	for _, old := range others[min(kept-1, len(others)):] {
		errs = append(errs, os.RemoveAll(old.dir))
	}
	return errors.Join(errs...)
}

package program

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/userdirs"
)

// The programs are large, and a developer of the cluster makes many: each state of the sources has its own. Two
// checkouts may be worked on in turns, so what was used within a day stays, unless there is too much of it. What was
// used a moment ago stays in any case: its path may be in the environment of a run of tests.
const (
	kept      = 8                   // programs, as long as they are used
	forgotten = 30 * 24 * time.Hour // without use, after which a program goes
	inUse     = 24 * time.Hour      // since the last use, within which a program goes only for want of room
	recent    = 4 * time.Hour       // since the last use, within which none goes
	most      = 2 << 30             // bytes that the programs of one product may take
)

// usedFile is the file in a slot whose time is that of the last use. The program's own
// time stays as it is: it reports whether the program is still the same.
const usedFile = "used"

// touch notes a use of the slot's programs, which keeps them in the cache. A cache that
// cannot be written is never pruned either, so a failure does not matter.
func (s slot) touch() {
	path, now := filepath.Join(s.dir, usedFile), time.Now()
	if os.Chtimes(path, now, now) != nil {
		_ = os.WriteFile(path, nil, 0o644)
	}
}

// touch notes the use of a program that was named by its path, which may be one in the cache.
func (f *Finder) touch(path string) {
	root, err := userdirs.Cache(f.Getenv)
	if err != nil || filepath.Dir(filepath.Dir(path)) != filepath.Join(root, ProgramsDir) {
		return
	}
	slot{clusterProduct(), filepath.Dir(path)}.touch()
}

// isOwn reports whether slipway has filled the slot: the note in it names the folder. The user may have made any folder
// the cache, and may have copied or renamed one in it.
func (s slot) isOwn() bool {
	n, ok := readNote(s.dir)
	return ok && n.Key == filepath.Base(s.dir)
}

// used is when the slot's programs were built or used last; it is zero where there are none.
func (s slot) used() (last time.Time) {
	for _, program := range s.all() {
		last = later(last, s.file(program))
	}
	if last.IsZero() {
		return last
	}
	return later(last, filepath.Join(s.dir, usedFile))
}

// later is the time of a file, or t if that is later or there is no such file.
func later(t time.Time, path string) time.Time {
	if info, err := os.Stat(path); err == nil && info.ModTime().After(t) {
		return info.ModTime()
	}
	return t
}

// prune removes the programs of the same products beside s that were not used for a long time, and the oldest of those
// that together take too much room. What runs stays, and so does what is being built.
func (s slot) prune() error {
	entries, err := os.ReadDir(filepath.Dir(s.dir))
	if err != nil {
		return err
	}
	all := map[slot]use{}
	for _, e := range entries {
		other := slot{s.product, filepath.Join(filepath.Dir(s.dir), e.Name())}
		switch used := other.used(); {
		case other == s || !e.IsDir():
		case !used.IsZero() && other.isOwn():
			all[other] = use{time.Since(used), other.size()}
		case other.abandoned():
			err = errors.Join(err, other.discard())
		}
	}
	for _, old := range unused(all, most-s.size()) {
		if !old.runs() {
			err = errors.Join(err, old.discard())
		}
	}
	return err
}

// use is what is known of the programs of a slot.
type use struct {
	age  time.Duration // since they were used
	size int64         // in bytes
}

// size is how many bytes the slot's programs have.
func (s slot) size() (bytes int64) {
	for _, program := range s.all() {
		if info, err := os.Stat(s.file(program)); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// abandoned reports whether the slot has no more than what a build has left that was killed.
func (s slot) abandoned() bool {
	info, err := os.Stat(s.workshopDir())
	if err != nil || time.Since(info.ModTime()) <= inUse || !userdirs.Marked(s.workshopDir()) {
		return false
	}
	entries, err := os.ReadDir(s.dir)
	return err == nil && len(entries) == 1
}

// runs reports whether one of the slot's programs is being executed, where the system says so.
func (s slot) runs() bool {
	return slices.ContainsFunc(s.all(), func(program string) bool { return runs(s.file(program)) })
}

// runs reports whether a program is being executed: the system lets no one write to such a file.
func runs(path string) bool {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, busy)
}

// discard removes the slot, unless another command is filling it.
func (s slot) discard() error {
	_, err := discard(s.dir, s.lock(), false)
	return err
}

func discard(dir, lockFile string, dryRun bool) (removed bool, err error) {
	lock := flock.New(lockFile, flock.SetPermissions(0o600))
	if free, err := lock.TryLock(); !free || err != nil {
		return false, err
	}
	defer func() { _ = lock.Close() }()
	if dryRun {
		return true, nil
	}
	err = os.RemoveAll(dir)
	return err == nil, err
}

// Discard removes a folder of the cache that has programs or links to some, for a user who wants that. Removed is false
// when it stays: one of the programs runs, or another command is filling the folder.
func Discard(dir string, dryRun bool) (removed bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Name() == fileName("kubectl") && isSelf(path) {
			continue // as it is among assets until kubectl is compiled
		}
		if runs(path) {
			return false, nil
		}
	}
	if lock := (slot{dir: dir}).lock(); isFile(lock) { // links have none
		return discard(dir, lock, dryRun)
	}
	if dryRun {
		return true, nil
	}
	err = os.RemoveAll(dir)
	return err == nil, err
}

// isSelf reports whether a path leads to the running program.
func isSelf(path string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	ours, err := os.Stat(own)
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// unused chooses, by the time since their last use and by their sizes, what a cache need not keep beside a program that
// was just built. Room is how many bytes there are for those that stay.
func unused[K comparable](all map[K]use, room int64) []K {
	var old []K
	var total int64
	for k, u := range all {
		total += u.size
		if u.age > recent {
			old = append(old, k)
		}
	}
	slices.SortFunc(old, func(a, b K) int { return cmp.Compare(all[b].age, all[a].age) }) // oldest first
	surplus := max(0, len(all)+1-kept)
	n := 0
	for ; n < len(old); n++ {
		idle := all[old[n]].age > inUse && (n < surplus || all[old[n]].age > forgotten)
		if !idle && total <= room {
			break
		}
		total -= all[old[n]].size
	}
	return old[:n]
}

package program

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/cachefolder"
)

// The programs are large, and a developer of the cluster makes many: each state
// of the sources has its own. Two checkouts may be worked on in turns, so what
// was used within a day stays however many there are.
const (
	kept      = 8                   // programs, as long as they are used
	forgotten = 30 * 24 * time.Hour // without use, after which a program goes
	inUse     = 24 * time.Hour      // since the last use, within which none goes
)

// usedFile is the file in a slot whose time is that of the last use. The program's own
// time stays as it is: it tells whether the program is still the same.
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
	root, err := cachefolder.Root(f.Getenv)
	if err != nil || filepath.Dir(filepath.Dir(path)) != filepath.Join(root, programsDir) {
		return
	}
	slot{clusterProduct(), filepath.Dir(path)}.touch()
}

// used is when the slot's programs were built or used last; it is zero where there are none.
func (s slot) used() time.Time {
	var last time.Time
	info, err := os.Stat(s.program())
	if err != nil {
		return last
	}
	last = info.ModTime()
	if info, err := os.Stat(filepath.Join(s.dir, usedFile)); err == nil && info.ModTime().After(last) {
		last = info.ModTime()
	}
	return last
}

// prune removes the programs of the same product beside s that nobody used for a long time.
func (s slot) prune() error {
	entries, err := os.ReadDir(filepath.Dir(s.dir))
	if err != nil {
		return err
	}
	ages := map[slot]time.Duration{}
	for _, e := range entries {
		other := slot{s.product, filepath.Join(filepath.Dir(s.dir), e.Name())}
		if used := other.used(); other != s && !used.IsZero() {
			ages[other] = time.Since(used)
		}
	}
	var errs []error
	for _, old := range unused(ages) {
		errs = append(errs, os.RemoveAll(old.dir))
	}
	return errors.Join(errs...)
}

// unused chooses, by the time since their last use, what a cache need not keep
// beside a program that was just built.
func unused[K comparable](ages map[K]time.Duration) []K {
	var old []K
	for k, age := range ages {
		if age > inUse {
			old = append(old, k)
		}
	}
	slices.SortFunc(old, func(a, b K) int { return cmp.Compare(ages[b], ages[a]) }) // oldest first
	surplus := max(0, len(ages)+1-kept)
	n := 0
	for n < len(old) && (n < surplus || ages[old[n]] > forgotten) {
		n++
	}
	return old[:n]
}

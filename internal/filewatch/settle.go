package filewatch

import (
	"hash/maphash"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/safefs"
)

const (
	maxHashed  = 1 << 20  // bytes of a file; larger ones are compared by their size and time only
	batchBytes = 64 << 20 // bytes that are read for a batch
)

// timestamps is how far apart the times of a file's changes can be without being different: FAT counts in 2 s, says
// Microsoft's [MS-FSCC], 2.1.1. A file that has changed is hashed once more after that, since the last change may not
// show in its time.
const timestamps = 2 * time.Second

// settle makes differences known, and returns the names of the files that have changed. If unsure, these include files
// that were written with the bytes that they had.
func (t *tree) settle(differences map[string]file, unsure bool) []string {
	var names []string
	budget := int64(batchBytes)
	for path, now := range differences {
		f, name := t.folders[filepath.Dir(path)], filepath.Base(path)
		old := f.files[name]
		if now.gone {
			delete(f.files, name)
			t.files--
			if t.options.Matters(filepath.Join(f.name, name)) {
				names = append(names, filepath.Join(f.name, name))
			}
			continue
		}
		t.hash(path, &now, &budget)
		equal := old.hashed && now.hashed && old.hash == now.hash
		written := t.written[path] || !old.same(now)
		if now.hashed && (written || !equal) {
			now.again = time.Now().Add(timestamps)
		}
		t.keep(f, name, now)
		if !equal || unsure && written {
			names = append(names, filepath.Join(f.name, name))
		}
	}
	t.prune()
	clear(t.written)
	slices.Sort(names)
	return slices.Compact(names)
}

// hash reads a file, if that is cheap.
func (t *tree) hash(path string, now *file, budget *int64) {
	if now.link || now.size > min(maxHashed, *budget) {
		return
	}
	*budget -= now.size
	if content, err := safefs.ReadFile(path); err == nil {
		now.hashed, now.hash = true, maphash.Bytes(t.seed, content)
	}
}

// prune forgets folders that have gone and did not come back.
func (t *tree) prune() {
	for _, path := range t.lost {
		if f := t.folders[path]; f != nil && !f.watched {
			t.forget(path)
		}
	}
	t.lost = nil
}

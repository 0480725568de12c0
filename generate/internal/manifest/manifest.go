package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Manifest is what is remembered about the runs with one key.
type Manifest struct {
	path string
	key  string
}

// In returns the manifest of a key that is kept in a folder.
func In(folder, key string) Manifest {
	sum := sha256.Sum256([]byte(key))
	return Manifest{path: filepath.Join(folder, hex.EncodeToString(sum[:])), key: key}
}

// Output is a file that a run wrote or found to be as it has to be.
type Output struct {
	Path    string
	Content []byte
	// Ignored is set when the run, although it read the file, used nothing of it
	// that writing could have changed.
	Ignored bool
}

// Save remembers a run. Call it when all outputs are written.
func (m Manifest) Save(inputs *Inputs, outputs []Output, answer []byte) error {
	if inputs == nil || inputs.opaque {
		return nil
	}
	r := record{key: m.key, answer: answer, entries: inputs.entries}
	for _, o := range outputs {
		info, err := os.Stat(o.Path)
		if err != nil {
			return fmt.Errorf("remember the run: %w", err)
		}
		p := place{content, o.Path}
		if _, read := r.entries[p]; read && !o.Ignored {
			continue // the next run reads what this one wrote
		}
		r.entries[p] = entryOf(info, o.Content)
	}
	return m.write(r)
}

// Fresh returns what was saved with the last run if nothing has changed since.
func (m Manifest) Fresh() (answer []byte, ok bool) {
	data, err := os.ReadFile(m.path)
	if err != nil {
		return nil, false
	}
	r, ok := decode(data)
	if !ok || r.key != m.key {
		return nil, false
	}
	now, aged := time.Now(), false
	for p, e := range r.entries {
		current, same := e.compare(p, now)
		if !same {
			return nil, false
		}
		if current != e {
			r.entries[p], aged = current, true
		}
	}
	if aged {
		_ = m.write(r) // only the next run's speed depends on it
	}
	return r.answer, true
}

// Remove forgets the last run.
func (m Manifest) Remove() error {
	err := os.Remove(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// compare reports whether what is at p now is what e says, and the entry that
// the next comparison may start from.
func (e entry) compare(p place, now time.Time) (current entry, same bool) {
	info, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, e.kind == absent
	case err != nil:
		return e, false
	case p.about == nature || e.kind == absent:
		return e, e.kind == kindOf(info)
	}
	found := statusOf(info)
	if e.settled && found == e.status {
		return e, true
	}
	if e.sum == "" || e.sum != p.sum() {
		return e, false
	}
	return entry{status: found, settled: found.isSettled(now), sum: e.sum}, true
}

// sum is that of what is at p now, or "".
func (p place) sum() string {
	if p.about == listing {
		entries, err := os.ReadDir(p.path)
		if err != nil {
			return ""
		}
		return sumOfEntries(entries)
	}
	data, err := os.ReadFile(p.path)
	if err != nil {
		return ""
	}
	return sumOf(data)
}

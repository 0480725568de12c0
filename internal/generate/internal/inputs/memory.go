package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// Memory is what is remembered about the runs with one key.
type Memory struct {
	path string
	key  string
}

// In returns the memory of a key that is kept in a folder.
func In(folder, key string) Memory {
	sum := sha256.Sum256([]byte(key))
	return Memory{path: filepath.Join(folder, hex.EncodeToString(sum[:])), key: key}
}

// Output is a file that a run wrote or found to be as it has to be.
type Output struct {
	Path    string
	Content []byte
	// Ignored is set when the run, although it read the file, used nothing of it
	// that writing could have changed.
	Ignored bool
}

// Save remembers a run: the answer for a run in which nothing has changed, and what
// helps one in which something has. Call it when all outputs are written.
func (m Memory) Save(inputs *Set, outputs []Output, answer, help []byte) error {
	if inputs == nil || inputs.opaque {
		return nil
	}
	r := record{key: m.key, answer: answer, help: help, entries: inputs.entries}
	for _, o := range outputs {
		info, err := os.Stat(o.Path)
		if err != nil {
			return fmt.Errorf("record the run: %w", err)
		}
		p := place{content, o.Path}
		if e, noted := r.entries[p]; noted && !e.carried && !o.Ignored {
			continue // the next run reads what this one wrote
		}
		r.entries[p] = entryOf(info, o.Content)
	}
	return m.write(r)
}

// Fresh returns what was saved with the last run if nothing has changed since.
func (m Memory) Fresh() (answer []byte, ok bool) {
	last := m.Last()
	if last == nil || !last.Fresh() {
		return nil, false
	}
	return last.Answer(), true
}

// Last compares what the last run read with what is there now. It is nil when
// nothing is remembered.
func (m Memory) Last() *Last {
	data, err := os.ReadFile(m.path)
	if err != nil {
		return nil
	}
	r, ok := decode(data)
	if !ok || r.key != m.key {
		return nil
	}
	last := &Last{record: r}
	now, aged := time.Now(), false
	for p, e := range r.entries {
		current, same := e.compare(p, now)
		switch {
		case !same:
			last.changed = append(last.changed, Change{Path: p.path, Content: p.about == content, Listing: p.about == listing && e.kind != absent})
			delete(r.entries, p)
		case current != e:
			r.entries[p], aged = current, true
		}
	}
	if aged && last.Fresh() {
		_ = m.write(r) // only the next run's speed depends on it
	}
	return last
}

// Remove forgets the last run.
func (m Memory) Remove() error {
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
	if e.sum == "" || found.size != e.size || e.sum != p.sum() {
		return e, false
	}
	return entry{status: found, settled: found.isSettled(now), sum: e.sum, carried: true}, true
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
	sum := sha256.New()
	if err := safefs.CopyTo(sum, p.path); err != nil {
		return ""
	}
	return string(sum.Sum(nil))
}

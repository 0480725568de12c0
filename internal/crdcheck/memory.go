package crdcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// memory keeps what was said about definitions, a file for each state of one. Without a cache folder it keeps nothing:
// then every definition is checked every time.
type memory struct {
	dir  string // "" when there is none
	salt string // what the answer depends on besides the content
}

// newMemory puts the memory into slipway's cache. Another state of the program, which may say something else, has
// another one.
func newMemory(f *program.Finder) memory {
	root, err := userdirs.Cache(f.Getenv)
	if err != nil {
		return memory{}
	}
	return memory{dir: filepath.Join(root, "checked"), salt: f.CheckerID()}
}

// file is where the answer about f is.
func (m memory) file(f File) string {
	h := sha256.New()
	fmt.Fprintln(h, Protocol, m.salt)
	h.Write([]byte(f.Content))
	return filepath.Join(m.dir, hex.EncodeToString(h.Sum(nil)[:16])+".json")
}

// fresh is how long a memory counts as used without its file being touched.
const fresh = 24 * time.Hour

// recall returns what was said about f.
func (m memory) recall(f File) (findings []Finding, ok bool) {
	if m.dir == "" {
		return nil, false
	}
	path := m.file(f)
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &findings) != nil {
		return nil, false
	}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > fresh {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // so that it is not forgotten; no matter if it is
	}
	for i := range findings {
		findings[i].File = f.Name
	}
	return findings, true
}

// keep remembers what was said about f. Failing to is no harm.
func (m memory) keep(f File, findings []Finding) {
	if m.dir == "" {
		return
	}
	if findings == nil {
		findings = []Finding{}
	}
	data, err := json.Marshal(findings)
	if err != nil || os.MkdirAll(m.dir, 0o755) != nil {
		return
	}
	_ = safefs.WriteCache(m.file(f), data, 0o644)
	m.forget()
}

const (
	many      = 2000                // memories, from which on old ones go
	forgotten = 30 * 24 * time.Hour // without use
)

// memoryName matches the names of memories. The user may have made any folder the cache, and other files lie there
// then.
var memoryName = lazy.Regexp(`^[0-9a-f]{32}\.json$`)

// forget removes answers that no command has used for long.
func (m memory) forget() {
	entries, err := os.ReadDir(m.dir)
	if err != nil || len(entries) < many {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && memoryName().MatchString(e.Name()) && time.Since(info.ModTime()) > forgotten {
			_ = os.Remove(filepath.Join(m.dir, e.Name()))
		}
	}
}

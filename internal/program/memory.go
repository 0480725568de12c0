package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// answer is what a program told, and its file's state at that time. Starting so
// large a program only to ask for its version takes a fifth of a second.
type answer struct {
	Path     string           `json:"path"`
	Size     int64            `json:"size"`
	Modified time.Time        `json:"modified"`
	Version  protocol.Version `json:"version"`
}

// ask is [probe] with the answers remembered in the cache. A script is asked
// every time: what it runs may change while it stays the same.
func (f *Finder) ask(ctx context.Context, path string) (protocol.Version, error) {
	memory, now, ok := f.remember(path)
	if !ok {
		return probe(ctx, path)
	}
	if text, err := os.ReadFile(memory); err == nil {
		var then answer
		if json.Unmarshal(text, &then) == nil && then.still(now) {
			return then.Version, nil
		}
	}
	v, err := probe(ctx, path)
	if err != nil {
		return v, err
	}
	now.Version = v
	now.keep(memory)
	return v, nil
}

// remember returns the file for the answer of the program at path and the state
// of that program; ok is false where none can be kept.
func (f *Finder) remember(path string) (memory string, now answer, ok bool) {
	root, err := userdirs.Cache(f.Getenv)
	if err != nil {
		return "", answer{}, false
	}
	info, err := os.Stat(path)
	if err != nil || !isExecutable(path) || isScript(path) {
		return "", answer{}, false
	}
	sum := sha256.Sum256([]byte(path))
	memory = filepath.Join(root, "versions", hex.EncodeToString(sum[:8])+".json")
	return memory, answer{Path: path, Size: info.Size(), Modified: info.ModTime()}, true
}

// still tells whether then was told by the program whose state is now.
func (then answer) still(now answer) bool {
	return then.Path == now.Path && then.Size == now.Size && then.Modified.Equal(now.Modified)
}

// keep writes the answer down. Where that fails the program is asked again.
func (then answer) keep(memory string) {
	text, err := json.Marshal(then)
	if err != nil || os.MkdirAll(filepath.Dir(memory), 0o755) != nil {
		return
	}
	_ = safefs.WriteCache(memory, text, 0o644)
}

func isExecutable(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil
}

// isScript tells whether the file at path is run by another program.
func isScript(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	var begin [2]byte
	_, err = io.ReadFull(file, begin[:])
	return err == nil && bytes.Equal(begin[:], []byte("#!"))
}

// Package layers remembers which layer was made of what, so that a program that has not changed is not compressed
// again.
//
//	m := layers.Memory{Dir: dir, Blob: store.Blob, Temp: temp}
//	key := layers.Key("program", digest, path)
//	layer, ok := m.Recall(key)       // only while the store has its contents
//	…
//	m.Keep(key, layer)               // once the store has them
//
// It is a memory and no more: without it, the same layers are made again.
package layers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Memory is a folder of notes about layers whose contents are elsewhere.
type Memory struct {
	Dir  string
	Blob func(v1.Hash) string // path of contents
	Temp string               // folder on the same disk, of one piece of work
}

// note is what there is to know of a layer.
type note struct {
	Digest v1.Hash `json:"digest"`
	DiffID v1.Hash `json:"diffID"`
	Size   int64   `json:"size"`
}

// Key names all that a layer is made of.
func Key(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(sum[:])
}

func (m Memory) path(key string) string { return filepath.Join(m.Dir, key+".json") }

// Recall returns the layer that was made of what the key names. It stays when the image that has it is removed
// meanwhile.
func (m Memory) Recall(key string) (v1.Layer, bool) {
	n, ok := m.read(m.path(key))
	if !ok {
		return nil, false
	}
	own := filepath.Join(m.Temp, "layer-"+n.Digest.Hex)
	if err := os.Link(m.Blob(n.Digest), own); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, false
	}
	if !sound(own, n.Digest) {
		_ = os.Remove(own)
		return nil, false
	}
	layer, err := pack.FileLayer(own, n.Digest, n.DiffID, n.Size)
	return layer, err == nil
}

// sound says whether a file is what its digest says: a layer that is damaged is made again.
func sound(path string, digest v1.Hash) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	is, _, err := v1.SHA256(f)
	return err == nil && is == digest
}

// read reads a note whose layer is there.
func (m Memory) read(path string) (n note, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &n) != nil {
		return n, false
	}
	info, err := os.Stat(m.Blob(n.Digest))
	return n, err == nil && info.Size() == n.Size
}

// Keep remembers a layer, and forgets those that are gone.
func (m Memory) Keep(key string, layer v1.Layer) error {
	var n note
	var err error
	if n.Digest, err = layer.Digest(); err != nil {
		return err
	}
	if n.DiffID, err = layer.DiffID(); err != nil {
		return err
	}
	if n.Size, err = layer.Size(); err != nil {
		return err
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return err
	}
	notes, err := filepath.Glob(m.path(strings.Repeat("[0-9a-f]", hex.EncodedLen(sha256.Size)))) // no files of the user's
	if err != nil {
		return err
	}
	for _, path := range notes {
		if _, ok := m.read(path); !ok {
			_ = os.Remove(path)
		}
	}
	return safefs.WriteCache(m.path(key), data, 0o644)
}

package layers_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/slipway-dev/slipway/internal/image/layers"
	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/rootfs"
)

// kept is a memory that has a layer under a key, whose contents are at path.
func kept(t *testing.T, key string) (m layers.Memory, layer v1.Layer, path string) {
	t.Helper()
	dir := t.TempDir()
	m = layers.Memory{Dir: filepath.Join(dir, "notes"), Blob: func(h v1.Hash) string { return filepath.Join(dir, h.Hex) }, Temp: t.TempDir()}
	layer, err := pack.Layer([]rootfs.File{{Path: key, Mode: 0o644, Data: []byte("text")}}, time.Unix(0, 0), dir)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layer.Digest()
	if err != nil {
		t.Fatal(err)
	}
	written, err := filepath.Glob(filepath.Join(dir, "layer-*"))
	if err != nil || len(written) != 1 {
		t.Fatal(written, err)
	}
	path = m.Blob(digest)
	if err := os.Rename(written[0], path); err != nil {
		t.Fatal(err)
	}
	if err := m.Keep(key, layer); err != nil {
		t.Fatal(err)
	}
	return m, layer, path
}

// TestRecall: what was kept comes back whole, and stays although the store's contents go.
func TestRecall(t *testing.T) {
	m, layer, path := kept(t, "a")
	for range 2 { // the second time its own name is there already
		got, ok := m.Recall("a")
		if !ok {
			t.Fatal("it is forgotten")
		}
		want, _ := layer.Digest()
		if digest, err := got.Digest(); err != nil || digest != want {
			t.Errorf("its digest is %v, %v, want %v", digest, err, want)
		}
		defer func() {
			if err := validate.Layer(got); err != nil {
				t.Error(err)
			}
		}()
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Recall("b"); ok {
		t.Error("what was never kept comes back")
	}
}

// TestForgets: a layer whose contents are gone or damaged is made again.
func TestForgets(t *testing.T) {
	for name, damage := range map[string]func(m layers.Memory, path string) error{
		"gone":               func(_ layers.Memory, path string) error { return os.Remove(path) },
		"shorter":            func(_ layers.Memory, path string) error { return os.Truncate(path, 1) },
		"of the same length": func(_ layers.Memory, path string) error { return flip(path) },
		"a note that is none": func(m layers.Memory, _ string) error {
			return os.WriteFile(filepath.Join(m.Dir, "a.json"), []byte("{"), 0o644)
		},
		"a note that is empty": func(m layers.Memory, _ string) error { return os.WriteFile(filepath.Join(m.Dir, "a.json"), nil, 0o644) },
	} {
		m, _, path := kept(t, "a")
		if err := damage(m, path); err != nil {
			t.Fatal(err)
		}
		if _, ok := m.Recall("a"); ok {
			t.Errorf("%s: it comes back", name)
		}
		if left, err := os.ReadDir(m.Temp); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
}

// flip changes the last byte of a file.
func flip(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[len(data)-1] ^= 1
	return os.WriteFile(path, data, 0o644)
}

// TestKeepTidies: notes about layers that are gone go as well, and no file of the user's.
func TestKeepTidies(t *testing.T) {
	m, layer, path := kept(t, layers.Key("a"))
	if err := errors.Join(m.Keep(layers.Key("b"), layer), os.WriteFile(filepath.Join(m.Dir, "mine.json"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if notes, err := os.ReadDir(m.Dir); err != nil || len(notes) != 3 {
		t.Fatalf("there are %d notes, %v", len(notes), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := m.Keep(layers.Key("c"), layer); err != nil {
		t.Fatal(err)
	}
	if notes, err := os.ReadDir(m.Dir); err != nil || len(notes) != 2 {
		t.Errorf("there are %d files, %v, want the last note and the user's", len(notes), err)
	}
}

// TestKey: a key tells apart what it is of, wherever one part ends.
func TestKey(t *testing.T) {
	seen := map[string]bool{}
	for _, of := range [][]string{{"a", "b"}, {"ab"}, {"a", "", "b"}, {"b", "a"}, {"a", "b"}} {
		seen[layers.Key(of...)] = true
	}
	if len(seen) != 4 {
		t.Errorf("there are %d keys, want 4", len(seen))
	}
}

package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/layers"
	"github.com/slipway-dev/slipway/internal/image/store"
)

// warned is a store and what it warns of.
func warned(t *testing.T) (s store.Store, warnings *[]string) {
	warnings = new([]string)
	return store.Store{Dir: t.TempDir(), Warn: func(text string) { *warnings = append(*warnings, text) }}, warnings
}

func damage(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGarbledIndex: nothing is lost, whatever is asked first, and one warning tells of it.
func TestGarbledIndex(t *testing.T) {
	for name, use := range map[string]func(s store.Store) error{
		"get":    func(s store.Store) error { _, err := s.Get(tag(t, "op:v1")); return err },
		"list":   func(s store.Store) error { _, err := s.List(); return err },
		"put":    func(s store.Store) error { return s.Put(t.Context(), tag(t, "op:v2"), build(t, "two")) },
		"remove": func(s store.Store) error { return s.Remove(t.Context(), tag(t, "op:v2")) },
	} {
		for _, garbage := range []string{"", "{", `{"manifests":[{"digest":"x"}]}`, "{}"} {
			s, warnings := warned(t)
			put(t, s, "op:v1", build(t, "one"))
			put(t, s, "op:v2", build(t, "two"))
			damage(t, filepath.Join(s.Dir, "layout", "index.json"), garbage)
			if err := use(s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			e, err := s.Get(tag(t, "op:v1"))
			if err == nil {
				err = s.Check(e.Image)
			}
			if err != nil || len(*warnings) != 1 {
				t.Errorf("%s, %q: %v; warnings %q", name, garbage, err, *warnings)
			}
		}
	}
}

// TestGarbledIndexAndCopy: the index is begun anew, and images can be built again.
func TestGarbledIndexAndCopy(t *testing.T) {
	s, warnings := warned(t)
	put(t, s, "op:v1", build(t, "one"))
	damage(t, filepath.Join(s.Dir, "layout", "index.json"), "x")
	damage(t, filepath.Join(s.Dir, "index.json"), "x")
	if _, err := s.Get(tag(t, "op:v1")); !errors.Is(err, store.ErrUnknown) {
		t.Error(err)
	}
	if all, err := s.List(); err != nil || len(all) != 0 || len(*warnings) != 1 {
		t.Errorf("%d images, %v; warnings %q", len(all), err, *warnings)
	}
	put(t, s, "op:v1", build(t, "one"))
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("%d images, %v", len(all), err)
	}
}

// TestDamagedContents: each file of an image, cut off or changed, is found, is no obstacle for others, and building
// again repairs it.
func TestDamagedContents(t *testing.T) {
	s, warnings := warned(t)
	img := build(t, "one")
	put(t, s, "op:v1", img)
	put(t, s, "op:v2", build(t, "two"))
	e, err := s.Get(tag(t, "op:v1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range contents(t, e) {
		for _, size := range []int{0, 1, -1} {
			path := s.Blob(h)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if size < 0 { // as long as before
				text[len(text)/2] ^= 1
			} else {
				text = text[:size]
			}
			damage(t, path, string(text))
			if e, err := s.Get(tag(t, "op:v1")); err == nil {
				if err := s.Check(e.Image); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("it is not found: %v", err)
				}
			}
			if all, err := s.List(); err != nil || len(all) == 0 {
				t.Errorf("the other one cannot be listed: %d, %v", len(all), err)
			}
			put(t, s, "op:v3", build(t, "three"))
			put(t, s, "op:v1", img)
			e, err := s.Get(tag(t, "op:v1"))
			if err == nil {
				err = s.Check(e.Image)
			}
			if err != nil {
				t.Errorf("%s of %d bytes is not repaired: %v", h, size, err)
			}
		}
	}
	if len(*warnings) == 0 {
		t.Error("nothing is told")
	}
	damage(t, s.Blob(e.Descriptor.Digest), "x")
	if err := s.Remove(t.Context(), tag(t, "op:v1")); err != nil {
		t.Errorf("a damaged image is not removed: %v", err)
	}
}

// contents are the digests of an image and of the document about it.
func contents(t *testing.T, e store.Entry) (all []v1.Hash) {
	t.Helper()
	for _, img := range append([]v1.Image{e.Image.Image}, e.About...) {
		h, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}
		m, err := img.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h, m.Config.Digest, m.Layers[0].Digest)
	}
	return all
}

// TestDamagedLayerIsNotRecalled: a layer that is remembered and damaged is made again.
func TestDamagedLayerIsNotRecalled(t *testing.T) {
	s, _ := warned(t)
	img := build(t, "one")
	put(t, s, "op:v1", img)
	made, err := img.Image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	m := layers.Memory{Dir: s.Notes(), Blob: s.Blob, Temp: t.TempDir()}
	if err := m.Keep("key", made[0]); err != nil {
		t.Fatal(err)
	}
	digest, err := made[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Blob(digest))
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	damage(t, s.Blob(digest), string(text))
	if _, ok := m.Recall("key"); ok {
		t.Error("it is recalled")
	}
}

// TestTidyLeavesWhatIsBuilt: an old program that is being compiled anew, and one whose folder is removed while another
// build waits for it.
func TestTidyLeavesWhatIsBuilt(t *testing.T) {
	s, _ := warned(t)
	lock, dir, err := s.Program(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, store.ProgramFile)
	then := time.Now().Add(-1000 * time.Hour)
	damage(t, program, "old")
	if err := os.Chtimes(program, then, then); err != nil {
		t.Fatal(err)
	}
	s.Tidy()
	if _, err := os.Stat(program); err != nil {
		t.Fatal("the folder of a build is removed: ", err)
	}
	waiting := make(chan error)
	go func() {
		lock, dir, err := s.Program(context.WithoutCancel(t.Context()), "key")
		if err == nil {
			err = errors.Join(os.WriteFile(filepath.Join(dir, store.ProgramFile), nil, 0o755), lock.Close())
		}
		waiting <- err
	}()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	s.Tidy() // before or after the other one has it
	if err := <-waiting; err != nil {
		t.Error("a build in a folder that was removed: ", err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Error(err)
	}
}

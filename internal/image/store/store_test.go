package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/internal/image/layers"
	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/rootfs"
	"github.com/slipway-dev/slipway/internal/image/store"
)

// build packs an image of one file, with a document about it, anew each time.
func build(t testing.TB, data string) store.Image {
	t.Helper()
	layer, err := pack.Layer([]rootfs.File{{Path: "data", Mode: 0o644, Data: []byte(data)}}, time.Unix(0, 0), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	img, err := pack.Image(pack.Scratch(), pack.Spec{Platform: v1.Platform{OS: "linux", Architecture: "amd64"}, Created: time.Unix(0, 0)}, pack.Part{Layer: layer})
	if err != nil {
		t.Fatal(err)
	}
	d, err := partial.Descriptor(img)
	if err != nil {
		t.Fatal(err)
	}
	about, err := pack.Artifact([]byte(`"about"`), "application/spdx+json", *d)
	if err != nil {
		t.Fatal(err)
	}
	return store.Image{Image: img, About: []v1.Image{about}}
}

func tag(t testing.TB, text string) name.Tag {
	t.Helper()
	parsed, err := name.NewTag(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func put(t testing.TB, s store.Store, text string, img store.Image) {
	t.Helper()
	if err := s.Put(t.Context(), tag(t, text), img); err != nil {
		t.Fatal(err)
	}
}

// blobs counts the contents that are kept.
func blobs(t testing.TB, s store.Store) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.Dir, "layout", "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// TestReadStays: what is being pushed stays whole when its name is removed or gets another image.
func TestReadStays(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	put(t, s, "op:v1", build(t, "one"))
	release, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Get(tag(t, "op:v1"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "op:v1", build(t, "two"))
	if err := s.Remove(t.Context(), tag(t, "op:v1")); err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(e.Image.Image); err != nil {
		t.Error(err)
	}
	release()
	put(t, s, "op:v1", build(t, "three"))
	if n := blobs(t, s); n != 3+3 {
		t.Errorf("one image: %d contents, want 6", n)
	}
}

// TestRecalledStays: a layer that a build takes over from an image stays when that image is removed before the build
// has ended.
func TestRecalledStays(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	img := build(t, "one")
	put(t, s, "op:v1", img)
	all, err := img.Image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	m := layers.Memory{Dir: s.Notes(), Blob: s.Blob, Temp: t.TempDir()}
	if err := m.Keep("key", all[0]); err != nil {
		t.Fatal(err)
	}
	recalled, ok := m.Recall("key")
	if !ok {
		t.Fatal("it is forgotten")
	}
	if err := s.Remove(t.Context(), tag(t, "op:v1")); err != nil {
		t.Fatal(err)
	}
	again, err := pack.Image(pack.Scratch(), pack.Spec{}, pack.Part{Layer: recalled})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "op:v2", store.Image{Image: again})
	e, err := s.Get(tag(t, "op:v2"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(e.Image.Image); err != nil {
		t.Error(err)
	}
}

func TestImagesHaveNames(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	if _, err := s.Get(tag(t, "op:v1")); !errors.Is(err, store.ErrUnknown) {
		t.Error(err)
	}
	put(t, s, "op:v1", build(t, "one"))
	put(t, s, "op:v2", build(t, "one"))
	const ofOne = 3 + 3 // an image's manifest, configuration and layer, and the document's
	if n := blobs(t, s); n != ofOne {
		t.Errorf("two names of an image: %d contents, want %d", n, ofOne)
	}
	put(t, s, "op:v1", build(t, "two"))
	e, err := s.Get(tag(t, "index.docker.io/library/op:v1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(e.Image.Image); err != nil {
		t.Error(err)
	}
	if len(e.About) != 1 {
		t.Errorf("%d documents about it, want 1", len(e.About))
	}
	if err := s.Remove(t.Context(), tag(t, "op:v1")); err != nil {
		t.Fatal(err)
	}
	if n := blobs(t, s); n != ofOne {
		t.Errorf("one was removed: %d contents, want %d", n, ofOne)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || len(all[0].About) != 1 {
		t.Errorf("got %+v, %v", all, err)
	}
	if err := s.Remove(t.Context(), tag(t, "op:v1")); !errors.Is(err, store.ErrUnknown) {
		t.Error(err)
	}
}

func TestBuildsAtOnce(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	var all errgroup.Group
	for i := range 8 {
		img, to := build(t, fmt.Sprint(i)), tag(t, fmt.Sprintf("op:v%d", i/2))
		all.Go(func() error { return s.Put(t.Context(), to, img) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	entries, err := s.List()
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d images, %v; want 4", len(entries), err)
	}
	index, err := layout.ImageIndexFromPath(filepath.Join(s.Dir, "layout"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
}

func TestLayersAreRemembered(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	m := layers.Memory{Dir: s.Notes(), Blob: s.Blob, Temp: t.TempDir()}
	img := build(t, "one")
	made, err := img.Image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	key := layers.Key("one")
	if err := m.Keep(key, made[0]); err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Recall(key); ok {
		t.Error("a layer is recalled that is not kept")
	}
	put(t, s, "op:v1", img)
	layer, ok := m.Recall(key)
	if !ok {
		t.Fatal("a layer that is kept is not recalled")
	}
	if err := validate.Layer(layer); err != nil {
		t.Error(err)
	}
}

// TestTidy: a program goes that was not built for long. Folders that slipway did not make stay, whatever they are
// called and whatever they hold: the user may have made any folder the cache.
func TestTidy(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	current, done, err := s.Temp()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	then := time.Now().Add(-1000 * time.Hour)
	program := func(key string, at time.Time) (dir string) {
		t.Helper()
		lock, dir, err := s.Program(t.Context(), key)
		if err == nil {
			path := filepath.Join(dir, store.ProgramFile)
			err = errors.Join(os.WriteFile(path, nil, 0o755), os.Chtimes(path, at, at), lock.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	used, unused, renamed, linked := program("used", time.Now()), program("unused", then), program("renamed", then), filepath.Join(s.Programs(), "linked")
	stays := map[string]bool{current: true, used: true, unused: false, renamed + "-by-me": true, linked: true}
	if err := errors.Join(os.Rename(renamed, renamed+"-by-me"), os.Symlink(t.TempDir(), linked), os.CopyFS(filepath.Join(s.Programs(), "copy"), os.DirFS(unused))); err != nil {
		t.Fatal(err)
	}
	for _, mine := range []string{filepath.Join(s.Dir, "work-mine"), filepath.Join(s.Programs(), "mine"), filepath.Join(s.Programs(), "mine.gone"), filepath.Join(s.Programs(), "gone-mine"), filepath.Join(s.Programs(), "copy")} {
		path := filepath.Join(mine, store.ProgramFile)
		if err := errors.Join(os.MkdirAll(mine, 0o700), os.WriteFile(path, nil, 0o700), os.Chtimes(path, then, then), os.Chtimes(mine, then, then)); err != nil {
			t.Fatal(err)
		}
		stays[mine] = true
	}
	s.Tidy()
	for path, want := range stays {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.Programs(), "gone-*")); err != nil || len(left) != 1 {
		t.Errorf("of what was removed there is still %v, %v", left, err)
	}
}

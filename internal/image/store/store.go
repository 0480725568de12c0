// Package store keeps images that were built until they are pushed, saved or loaded: an OCI image layout in a folder, which other
// tools can read, with one name for each image.
//
//	s := store.Store{Dir: dir}
//	err := s.Put(ctx, tag, store.Image{Image: img})
//	entry, err := s.Get(tag)
//
// A name is an image's alone: an image that gets one that another one has takes it away. What no name leads to is removed, once
// nobody reads it ([Store.Read]). Names change by one file being renamed, so an image is there whole or not at all, also when
// the process is killed.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/slipway-dev/slipway/internal/clusterctl/atomicfile"
)

// Annotations of descriptors in the layout's index.
const (
	nameKey  = "org.opencontainers.image.ref.name" // the image's full name
	aboutKey = "dev.slipway.image.about"           // digest of the image that an artifact is about
)

// ErrUnknown is that there is no image of that name.
var ErrUnknown = errors.New("no such image")

// Store is the images in a folder.
type Store struct{ Dir string }

// Image is an image for one platform, or an index for several, with artifacts about them.
type Image struct {
	Image v1.Image
	Index v1.ImageIndex // nil if there is only Image
	About []v1.Image
}

// Entry is an image that is in the store.
type Entry struct {
	Image
	Name       string
	Descriptor v1.Descriptor
}

// appendable is what can be written: an image or an index.
func (i Image) appendable() interface {
	partial.Describable
	partial.WithRawManifest
} {
	if i.Index != nil {
		return i.Index
	}
	return i.Image
}

// Put keeps an image under a name.
func (s Store) Put(ctx context.Context, tag name.Tag, img Image) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	path, err := s.open()
	if err != nil {
		return err
	}
	if img.Index != nil {
		err = path.WriteIndex(img.Index)
	} else {
		err = path.WriteImage(img.Image)
	}
	if err != nil {
		return err
	}
	descriptor, err := partial.Descriptor(img.appendable())
	if err != nil {
		return err
	}
	descriptor.Annotations = map[string]string{nameKey: tag.Name()}
	added := []v1.Descriptor{*descriptor}
	for _, about := range img.About {
		if err := path.WriteImage(about); err != nil {
			return err
		}
		d, err := partial.Descriptor(about)
		if err != nil {
			return err
		}
		d.Annotations = map[string]string{aboutKey: descriptor.Digest.String()}
		added = append(added, *d)
	}
	return s.change(func(all []v1.Descriptor) []v1.Descriptor { return append(without(all, tag.Name()), added...) })
}

// without are the descriptors but for those of a name, and artifacts about what has no name then.
func without(all []v1.Descriptor, name string) []v1.Descriptor {
	all = slices.DeleteFunc(slices.Clone(all), func(d v1.Descriptor) bool { return d.Annotations[nameKey] == name })
	named := map[string]bool{}
	for _, d := range all {
		if d.Annotations[nameKey] != "" {
			named[d.Digest.String()] = true
		}
	}
	return slices.DeleteFunc(all, func(d v1.Descriptor) bool {
		return d.Annotations[nameKey] == "" && !named[d.Annotations[aboutKey]]
	})
}

// Get returns the image of a name.
func (s Store) Get(tag name.Tag) (Entry, error) {
	all, err := s.descriptors()
	if err != nil {
		return Entry{}, err
	}
	for _, d := range all {
		if d.Annotations[nameKey] == tag.Name() {
			return s.entry(d, all)
		}
	}
	return Entry{}, ErrUnknown
}

// List returns all images, by their names.
func (s Store) List() ([]Entry, error) {
	all, err := s.descriptors()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, d := range all {
		if d.Annotations[nameKey] == "" {
			continue
		}
		e, err := s.entry(d, all)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return entries, nil
}

// Remove takes an image's name from it.
func (s Store) Remove(ctx context.Context, tag name.Tag) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, err := s.Get(tag); err != nil {
		return err
	}
	return s.change(func(all []v1.Descriptor) []v1.Descriptor { return without(all, tag.Name()) })
}

// Read keeps contents from being removed until release is called, also those that no name leads to any more.
func (s Store) Read(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.Dir, "readers"))
	if _, err := lock.TryRLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

// Programs is a folder for compiled programs.
func (s Store) Programs() string { return filepath.Join(s.Dir, "programs") }

// Blob is the path of contents of an image.
func (s Store) Blob(h v1.Hash) string {
	return filepath.Join(s.layoutDir(), "blobs", h.Algorithm, h.Hex)
}

// Notes is a folder for what is remembered of layers.
func (s Store) Notes() string { return filepath.Join(s.Dir, "layers") }

func (s Store) layoutDir() string { return filepath.Join(s.Dir, "layout") }

// open opens the layout, or makes it.
func (s Store) open() (layout.Path, error) {
	path, err := layout.FromPath(s.layoutDir())
	if errors.Is(err, fs.ErrNotExist) {
		return layout.Write(s.layoutDir(), empty.Index)
	}
	return path, err
}

// hold keeps other processes from changing the store.
func (s Store) hold(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.Dir, "lock"))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

// descriptors are those of the layout's index.
func (s Store) descriptors() ([]v1.Descriptor, error) {
	path, err := layout.FromPath(s.layoutDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	index, err := path.ImageIndex()
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	return m.Manifests, nil
}

// entry reads what a descriptor describes.
func (s Store) entry(d v1.Descriptor, all []v1.Descriptor) (Entry, error) {
	e := Entry{Name: d.Annotations[nameKey], Descriptor: d}
	path, err := layout.FromPath(s.layoutDir())
	if err != nil {
		return e, err
	}
	root, err := path.ImageIndex()
	if err != nil {
		return e, err
	}
	if d.MediaType.IsIndex() {
		e.Index, err = root.ImageIndex(d.Digest)
	} else {
		e.Image.Image, err = root.Image(d.Digest)
	}
	if err != nil {
		return e, err
	}
	for _, other := range all {
		if other.Annotations[aboutKey] != d.Digest.String() {
			continue
		}
		about, err := root.Image(other.Digest)
		if err != nil {
			return e, err
		}
		e.About = append(e.About, about)
	}
	return e, nil
}

// change writes the layout's index anew.
func (s Store) change(f func([]v1.Descriptor) []v1.Descriptor) error {
	all, err := s.descriptors()
	if err != nil {
		return err
	}
	manifest, err := empty.Index.IndexManifest()
	if err != nil {
		return err
	}
	manifest = manifest.DeepCopy()
	manifest.Manifests = distinct(f(all))
	data, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(s.layoutDir(), "index.json"), data, 0o644); err != nil {
		return err
	}
	return s.collect()
}

// collect removes what no name leads to. While somebody reads it stays, until a later change.
func (s Store) collect() error {
	readers := flock.New(filepath.Join(s.Dir, "readers"))
	alone, err := readers.TryLock()
	if !alone || err != nil {
		return err
	}
	defer readers.Close()
	path, err := layout.FromPath(s.layoutDir())
	if err != nil {
		return err
	}
	garbage, err := path.GarbageCollect()
	if err != nil {
		return err
	}
	for _, h := range garbage {
		if err := path.RemoveBlob(h); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// distinct leaves out artifacts that two builds of the same image have added.
func distinct(all []v1.Descriptor) []v1.Descriptor {
	type key struct{ digest, name, about string }
	seen := map[key]bool{}
	return slices.DeleteFunc(all, func(d v1.Descriptor) bool {
		k := key{d.Digest.String(), d.Annotations[nameKey], d.Annotations[aboutKey]}
		defer func() { seen[k] = true }()
		return seen[k]
	})
}

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/slipway-dev/slipway/internal/safefs"
)

func (s Store) warn(format string, args ...any) {
	if s.Warn != nil {
		s.Warn(fmt.Sprintf(format, args...))
	}
}

// indexFile is the layout's index.
func (s Store) indexFile() string { return filepath.Join(s.layoutDir(), "index.json") }

// copyFile is the index's copy, which is never older.
func (s Store) copyFile() string { return filepath.Join(s.Dir, "index.json") }

// open opens the layout, or makes it.
func (s Store) open() (layout.Path, error) {
	path, err := layout.FromPath(s.layoutDir())
	if errors.Is(err, fs.ErrNotExist) {
		return layout.Write(s.layoutDir(), empty.Index)
	}
	if err == nil {
		_, err = s.mended()
	}
	return path, err
}

// read reads an index.
func read(file string) ([]v1.Descriptor, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := v1.ParseIndexManifest(bytes.NewReader(data))
	if err == nil && m.SchemaVersion != 2 {
		err = errNoIndex
	}
	if err != nil {
		return nil, err
	}
	return m.Manifests, nil
}

// errNoIndex is that a file is something else.
var errNoIndex = errors.New("it is not an index of images")

// write writes an index, the copy first.
func (s Store) write(all []v1.Descriptor) error {
	manifest, err := empty.Index.IndexManifest()
	if err != nil {
		return err
	}
	manifest = manifest.DeepCopy()
	manifest.Manifests = all
	data, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	if err := safefs.Write(s.copyFile(), data, 0o644); err != nil {
		return err
	}
	return safefs.Write(s.indexFile(), data, 0o644)
}

// descriptors are those of the layout's index.
func (s Store) descriptors() ([]v1.Descriptor, error) {
	all, err := read(s.indexFile())
	switch {
	case err == nil:
		return all, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	}
	release, err := s.hold(context.Background()) // whoever has it writes a small file
	if err != nil {
		return nil, err
	}
	defer release()
	return s.mended()
}

// mended are the descriptors of an index that is mended if it is damaged. The caller holds the store.
func (s Store) mended() ([]v1.Descriptor, error) {
	all, err := read(s.indexFile())
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if _, denied := errors.AsType[*fs.PathError](err); denied {
		return nil, err
	}
	all, lost := read(s.copyFile())
	if lost == nil {
		s.warn("the index of images %s is damaged (%v): slipway restores it from its copy", s.indexFile(), err)
	} else {
		all = nil
		s.warn("the index of images %s is damaged (%v), and so is its copy: slipway starts an empty one, and images must be built again", s.indexFile(), err)
	}
	return all, s.write(all)
}

// entry reads what a descriptor describes.
func (s Store) entry(d v1.Descriptor, all []v1.Descriptor) (Entry, error) {
	e := Entry{Name: d.Annotations[NameKey], Descriptor: d}
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

// change writes the layout's index anew. The caller holds the store.
func (s Store) change(f func([]v1.Descriptor) []v1.Descriptor) error {
	all, err := s.mended()
	if err != nil {
		return err
	}
	all = distinct(f(all))
	if err := s.write(all); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(d v1.Descriptor) bool { return s.sound(d.Digest) != nil }) {
		return nil // what belongs to a damaged image cannot be told before it is built again or removed
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
	s.sweep()
	path, err := layout.FromPath(s.layoutDir())
	if err != nil {
		return err
	}
	garbage, err := path.GarbageCollect()
	if err != nil {
		return nil // one of the images of an index is damaged
	}
	for _, h := range garbage {
		if err := path.RemoveBlob(h); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sweep removes what killed pulls have left of layers: the library begins them under longer names, and finds no garbage
// beside such files. The caller holds the store, and nobody reads.
func (s Store) sweep() {
	dir := filepath.Join(s.layoutDir(), "blobs", "sha256")
	all, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, file := range all {
		if len(file.Name()) > hex.EncodedLen(sha256.Size) {
			_ = os.Remove(filepath.Join(dir, file.Name())) // the next change tries again
		}
	}
}

// distinct leaves out artifacts that two builds of the same image have added.
func distinct(all []v1.Descriptor) []v1.Descriptor {
	type key struct{ digest, name, about string }
	seen := map[key]bool{}
	return slices.DeleteFunc(all, func(d v1.Descriptor) bool {
		k := key{d.Digest.String(), d.Annotations[NameKey], d.Annotations[aboutKey]}
		defer func() { seen[k] = true }()
		return seen[k]
	})
}

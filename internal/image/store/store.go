// Package store keeps images that were built or pulled until they are pushed, saved or loaded: an OCI image layout in a
// folder, which other tools can read, with one name for each image.
//
//	s := store.Store{Dir: dir}
//	err := s.Put(ctx, tag, store.Image{Image: img})
//	entry, err := s.Get(tag)
//
// A name is an image's alone: an image that gets one that another one has takes it away. Content that no name leads to
// is removed, once no process reads it ([Store.Read]). Names change by one file being renamed, so an image is there
// whole or not at all, also when the process is killed.
//
// Disks fill up and files are cut off all the same. An index that cannot be read is restored from its copy, or else
// begun anew; contents are compared with their digests before they are used ([Store.Check]) or taken for being there,
// so that building an image again repairs it. Each is reported by one warning.
package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

// Annotations of descriptors in the layout's index.
const (
	NameKey  = "org.opencontainers.image.ref.name" // the image's full name
	aboutKey = "dev.slipway.image.about"           // digest of the image that an artifact is about
)

// ErrUnknown is that there is no image of that name.
var ErrUnknown = errors.New("no such image")

// Store is the images in a folder.
type Store struct {
	Dir  string
	Warn func(text string) // called with what is damaged; nil reports nothing
}

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
func (s Store) Put(ctx context.Context, tag name.Reference, img Image) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	path, err := s.open()
	if err != nil {
		return err
	}
	if err := s.writeContents(path, img); err != nil {
		return errors.Join(err, s.collect())
	}
	descriptor, err := partial.Descriptor(img.appendable())
	if err != nil {
		return err
	}
	descriptor.Annotations = map[string]string{NameKey: tag.Name()}
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

// Fetch writes the contents of an image, which come from a registry, before [Store.Put] gives it a name: others change
// the store meanwhile. The caller keeps them by [Store.Read].
func (s Store) Fetch(img Image) error {
	path, err := s.open()
	if err != nil {
		return err
	}
	return s.writeContents(path, img)
}

// writeContents writes the contents that are not there yet, unless the disk has no room for them.
func (s Store) writeContents(path layout.Path, img Image) error {
	if err := s.discard(img); err != nil {
		return err
	}
	if err := s.fits(img); err != nil {
		return err
	}
	if img.Index != nil {
		return path.WriteIndex(img.Index)
	}
	return path.WriteImage(img.Image)
}

// Clean removes contents without a name, as after a failed [Store.Fetch]. While another process reads the store, they
// stay.
func (s Store) Clean(ctx context.Context) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.collect()
}

// without are the descriptors but for those of a name, and artifacts about what has no name then.
func without(all []v1.Descriptor, name string) []v1.Descriptor {
	all = slices.DeleteFunc(slices.Clone(all), func(d v1.Descriptor) bool { return d.Annotations[NameKey] == name })
	named := map[string]bool{}
	for _, d := range all {
		if d.Annotations[NameKey] != "" {
			named[d.Digest.String()] = true
		}
	}
	return slices.DeleteFunc(all, func(d v1.Descriptor) bool {
		return d.Annotations[NameKey] == "" && !named[d.Annotations[aboutKey]]
	})
}

// Get returns the image of a name.
func (s Store) Get(tag name.Reference) (Entry, error) {
	all, err := s.descriptors()
	if err != nil {
		return Entry{}, err
	}
	at := named(all, tag)
	if at < 0 {
		return Entry{}, ErrUnknown
	}
	return s.entry(all[at], all)
}

// named is the place of the image of a name; it is negative if there is none.
func named(all []v1.Descriptor, tag name.Reference) int {
	return slices.IndexFunc(all, func(d v1.Descriptor) bool { return d.Annotations[NameKey] == tag.Name() })
}

// List returns all images, by their names.
func (s Store) List() ([]Entry, error) {
	all, err := s.descriptors()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, d := range all {
		if d.Annotations[NameKey] == "" {
			continue
		}
		e, err := s.entry(d, all)
		if err != nil {
			s.warn("the image %s is damaged and is skipped: %v", d.Annotations[NameKey], err)
			continue
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// Remove takes an image's name from it.
func (s Store) Remove(ctx context.Context, tag name.Reference) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	all, err := s.mended()
	if err != nil {
		return err
	}
	if named(all, tag) < 0 {
		return ErrUnknown
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

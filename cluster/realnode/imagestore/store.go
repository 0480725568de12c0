package imagestore

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Options say where images come from.
type Options struct {
	Registry  string            // the cluster's own, host:port; empty for none
	Mirrors   map[string]string // asked in place of registries: host[:port][/path] by the registry's full name
	Transport http.RoundTripper // how registries are reached; nil is http.DefaultTransport
	Owners    bool              // files can be given to other users
	Warn      func(string)      // is given what an image lacks here; nil reports nothing
}

// Image is one that is in the store. It does not change.
type Image struct {
	ID      string    // the digest of its configuration
	Tags    []string  // canonical names
	Digests []string  // canonical names with the digest of what was pulled
	Size    int64     // as it was pulled
	Config  v1.Config // how it wants to be run
	// Platform is the system and the processor that it is for.
	Platform string
	// Origins say what each name, with a tag or a digest, led to when it was pulled last.
	Origins map[string]Origin
	// Lost are tags that another image has taken, and when.
	Lost map[string]time.Time `json:",omitempty"`
	Root string               `json:"-"` // the folder with its files
}

// Origin is what a name led to.
type Origin struct {
	Here     string // the digest in the cluster's registry; empty if the image is from elsewhere
	Manifest string // the name's repository with the digest of this image
}

// Store holds images in a folder of its own.
type Store struct {
	dir     string
	options Options

	mu     sync.Mutex
	images map[string]Image // by ID
	used   func(id string) bool
	pulls  map[wanted]*pull // under way and digest
}

// ErrUnknown says that an image is not in the store.
var ErrUnknown = errors.New("no such image")

const (
	folderMode = 0o755
	fileMode   = 0o644

	rootFolder = "root"
	aboutFile  = "image.json"
)

// Open opens the store in dir, which it makes, with the images that are there already.
func Open(dir string, o Options) (*Store, error) {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return nil, fmt.Errorf("open the store of images: %w", err)
	}
	s := &Store{dir: dir, options: o, images: map[string]Image{}, pulls: map[wanted]*pull{}}
	if err := s.readAll(); err != nil {
		return nil, fmt.Errorf("open the store of images: %w", err)
	}
	return s, nil
}

// Get finds an image by name or ID.
func (s *Store) Get(ref string) (Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if image, ok := s.images[ref]; ok {
		return image, nil
	}
	canonical, err := Canonical(ref)
	if err != nil {
		return Image{}, err
	}
	for _, image := range s.images {
		if slices.Contains(image.Tags, canonical) || slices.Contains(image.Digests, canonical) {
			return image, nil
		}
	}
	return Image{}, fmt.Errorf("%w: %s", ErrUnknown, ref)
}

// Reference is the image's digest as the name's repository knows it: what a pod's status has for it.
func (i Image) Reference(ref string) string {
	canonical, err := Canonical(ref)
	if origin, ok := i.Origins[canonical]; err == nil && ok {
		return origin.Manifest
	}
	if len(i.Digests) > 0 {
		return i.Digests[0]
	}
	return i.ID
}

// List lists all images.
func (s *Store) List() []Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.images))
}

// Remove removes an image, if it is there. Containers over it must have ended.
func (s *Store) Remove(ref string) error {
	image, err := s.Get(ref)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	dir, err := s.takeOut(image)
	s.mu.Unlock()
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return fmt.Errorf("remove image %s: %w", ref, err)
	}
	return nil
}

// Used is how many bytes and files the images take.
func (s *Store) Used() (bytes, files uint64) {
	for _, image := range s.List() {
		bytes += uint64(image.Size)
		files++
	}
	return bytes, files
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// folder is where an image of that ID lies.
func (s *Store) folder(id string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(id, ":", "-"))
}

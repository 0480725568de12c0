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

// Options configure a [Store].
type Options struct {
	Registry  string            // the cluster's own, host:port; empty for none
	Mirrors   map[string]string // instead of registries: host[:port][/path] by the registry's full name
	Transport http.RoundTripper // to all registries; nil means http.DefaultTransport
	Owners    bool              // files may get other owners than this process
	Warn      func(string)      // receives what an image lost in unpacking; may be nil
}

// Image is an image in the store. It is a snapshot that never changes.
type Image struct {
	ID      string    // the digest of its configuration
	Tags    []string  // canonical names
	Digests []string  // canonical names with the digest of what was pulled
	Size    int64     // bytes, as pulled: usually compressed
	Config  v1.Config // the default command, environment and user
	// Platform is the image's system and architecture, such as linux/amd64.
	Platform string
	// Origins hold for each name the image of its latest pull.
	Origins map[string]Origin
	// Lost has the tags that other images have taken since, and when.
	Lost map[string]time.Time `json:",omitempty"`
	Root string               `json:"-"` // the folder with its files
}

// Origin is the target of a name.
type Origin struct {
	Here     string // the digest in the cluster's registry; empty if the image is from elsewhere
	Manifest string // the name's repository with the digest of this image
}

// Store holds images in one folder. Methods may be called concurrently.
type Store struct {
	dir     string
	options Options

	mu     sync.Mutex
	images map[string]Image // by ID
	used   func(id string) bool
	pulls  map[wanted]*pull // under way
}

// ErrUnknown means that an image is not in the store.
var ErrUnknown = errors.New("no such image")

const (
	folderMode = 0o755
	fileMode   = 0o644

	rootFolder = "root"
	aboutFile  = "image.json"
)

// Open opens the store in dir with the images that are there. It makes dir if needed.
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

// Get returns an image by name or ID.
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

// Reference returns the image's digest in the repository of a name. A pod's status shows it as imageID.
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

// List returns all images, in no order.
func (s *Store) List() []Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.images))
}

// Remove removes an image, if it exists. No container may use it.
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

// Used returns the sum of the images' sizes, in bytes as pulled, and their number.
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

// folder returns the folder of an image.
func (s *Store) folder(id string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(id, ":", "-"))
}

package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Options say where images come from.
type Options struct {
	Registry  string            // the cluster's own, host:port; empty for none
	Transport http.RoundTripper // how registries are reached; nil is http.DefaultTransport
	Owners    bool              // files can be given to other users
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
	Root     string `json:"-"` // the folder with its files
}

// Store holds images in a folder of its own.
type Store struct {
	dir     string
	options Options

	mu     sync.Mutex
	images map[string]Image // by ID
	pulls  map[string]*pull // under way, by name
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
	s := &Store{dir: dir, options: o, images: map[string]Image{}, pulls: map[string]*pull{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the store of images: %w", err)
	}
	for _, e := range entries {
		image, err := read(filepath.Join(dir, e.Name()))
		if err != nil {
			// It was being unpacked, or removed, when the node ended.
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, fmt.Errorf("open the store of images: %w", err)
			}
			continue
		}
		s.images[image.ID] = image
	}
	return s, nil
}

func read(dir string) (Image, error) {
	text, err := os.ReadFile(filepath.Join(dir, aboutFile))
	if err != nil {
		return Image{}, err
	}
	image := Image{Root: filepath.Join(dir, rootFolder)}
	return image, json.Unmarshal(text, &image)
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
	delete(s.images, image.ID)
	s.mu.Unlock()
	dir := filepath.Dir(image.Root)
	if err := os.Remove(filepath.Join(dir, aboutFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove image %s: %w", ref, err)
	}
	if err := os.RemoveAll(dir); err != nil {
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

// keep adds an image or another name of one, and returns it as it is now.
func (s *Store) keep(image Image) (Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.images[image.ID]; ok {
		image.Tags, image.Digests = union(old.Tags, image.Tags), union(old.Digests, image.Digests)
	}
	for id, other := range s.images { // a name leads to what it was pulled as last
		if id != image.ID {
			other.Tags = slices.DeleteFunc(slices.Clone(other.Tags), func(t string) bool { return slices.Contains(image.Tags, t) })
			s.images[id] = other
		}
	}
	text, err := json.Marshal(image)
	if err != nil {
		return Image{}, err
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(image.Root), aboutFile), text, fileMode); err != nil {
		return Image{}, fmt.Errorf("keep image %s: %w", image.ID, err)
	}
	s.images[image.ID] = image
	return image, nil
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

// pull is one that is under way.
type pull struct {
	done  chan struct{}
	image Image
	err   error
}

// Pull gets an image from a registry. Pulls of one name at the same time are one.
func (s *Store) Pull(ctx context.Context, ref string, credentials *Credentials) (Image, error) {
	s.mu.Lock()
	p := s.pulls[ref]
	if p == nil {
		p = &pull{done: make(chan struct{})}
		s.pulls[ref] = p
		go func() {
			p.image, p.err = s.pull(ctx, ref, credentials)
			s.mu.Lock()
			delete(s.pulls, ref)
			s.mu.Unlock()
			close(p.done)
		}()
	}
	s.mu.Unlock()
	<-p.done
	return p.image, p.err
}

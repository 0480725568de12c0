package imagestore

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// readAll reads the images in the store's folder.
func (s *Store) readAll() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	written := map[string]time.Time{}
	for _, e := range entries {
		image, at, err := read(filepath.Join(s.dir, e.Name()))
		if err != nil {
			// The node ended while the image was being unpacked or removed.
			if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
				return err
			}
			continue
		}
		if !image.named() && len(image.Lost) == 0 { // written by a version that did not record lost tags
			image.Lost = map[string]time.Time{"": at}
		}
		s.images[image.ID], written[image.ID] = image, at
	}
	newest := slices.SortedFunc(maps.Keys(written), func(a, b string) int { return written[b].Compare(written[a]) })
	for _, id := range newest { // by a version that left lost tags with their images
		if err := s.takeTags(s.images[id]); err != nil {
			return err
		}
	}
	return nil
}

// read returns the image in a folder, and the time of its description.
func read(dir string) (Image, time.Time, error) {
	path := filepath.Join(dir, aboutFile)
	info, err := os.Stat(path)
	if err != nil {
		return Image{}, time.Time{}, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Image{}, time.Time{}, err
	}
	image := Image{Root: filepath.Join(dir, rootFolder)}
	return image, info.ModTime(), json.Unmarshal(text, &image)
}

// keep adds an image, or more names for a known one, and returns the result. A tag leads to the image that was pulled
// last under it, also after a restart. So the other images lose the tag before this one gets it.
func (s *Store) keep(image Image) (Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.images[image.ID]; ok {
		image.Tags, image.Digests = union(old.Tags, image.Tags), union(old.Digests, image.Digests)
		origins := maps.Clone(old.Origins)
		if origins == nil {
			origins = map[string]Origin{}
		}
		maps.Copy(origins, image.Origins)
		image.Origins, image.Lost = origins, maps.Clone(old.Lost)
		maps.DeleteFunc(image.Lost, func(tag string, _ time.Time) bool { return slices.Contains(image.Tags, tag) })
	}
	if err := s.takeTags(image); err != nil {
		return Image{}, err
	}
	if err := image.write(); err != nil {
		return Image{}, err
	}
	s.images[image.ID] = image
	return image, nil
}

// takeTags removes an image's tags from all other images.
func (s *Store) takeTags(to Image) error {
	for id, other := range s.images {
		claims := func(tag string) bool { return slices.Contains(to.Tags, tag) }
		if id == to.ID || !slices.ContainsFunc(other.Tags, claims) {
			continue
		}
		if other.Lost = maps.Clone(other.Lost); other.Lost == nil {
			other.Lost = map[string]time.Time{}
		}
		for _, tag := range other.Tags {
			if claims(tag) {
				other.Lost[tag] = time.Now()
			}
		}
		other.Tags = slices.DeleteFunc(slices.Clone(other.Tags), claims)
		other.Origins = maps.Clone(other.Origins)
		maps.DeleteFunc(other.Origins, func(name string, _ Origin) bool { return claims(name) })
		if err := other.write(); err != nil {
			return err
		}
		s.images[id] = other
	}
	return nil
}

// write writes the image's description beside its files, atomically.
func (i Image) write() error {
	path := filepath.Join(filepath.Dir(i.Root), aboutFile)
	text, err := json.Marshal(i)
	if err == nil {
		err = writeWhole(path, text, fileMode)
	}
	if err != nil {
		return fmt.Errorf("keep image %s: %w", i.ID, err)
	}
	return nil
}

func writeWhole(path string, text []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path+".new", text, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

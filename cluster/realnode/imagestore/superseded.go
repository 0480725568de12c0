package imagestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// supersededFor is how long an image stays after another one has taken its last name.
const supersededFor = time.Hour

// Uses has the store ask whether a container is over an image, by its ID, before it removes one that is superseded.
// Before it is called, none is removed.
func (s *Store) Uses(used func(id string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = used
}

// named reports whether a name leads to the image.
func (i Image) named() bool { return len(i.Tags) > 0 || len(i.Origins) > 0 }

// prune removes images that no name leads to any more, which were superseded before that time: a dev loop brings one
// with each change. The last one of each tag stays beside the one that took its place, and so do images of containers.
func (s *Store) prune(before time.Time) error {
	gone, err := s.retire(before)
	for _, dir := range gone {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return fmt.Errorf("remove superseded images: %w", err)
	}
	return nil
}

// retire takes the images that prune removes out of the store, and returns the folders that are left.
func (s *Store) retire(before time.Time) (gone []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := map[string]string{} // the image that lost a tag last
	for id, image := range s.images {
		for tag, at := range image.Lost {
			if other, ok := last[tag]; !ok || s.images[other].Lost[tag].Before(at) {
				last[tag] = id
			}
		}
	}
	for id, image := range s.images {
		stays := image.named() || len(image.Lost) == 0 || s.used == nil || s.used(id)
		for tag, at := range image.Lost {
			stays = stays || last[tag] == id || at.After(before)
		}
		if stays {
			continue
		}
		dir, removeErr := s.takeOut(image)
		gone, err = append(gone, dir), errors.Join(err, removeErr)
	}
	return gone, err
}

// takeOut takes an image out of the store, whose lock is held, and returns the folder that its files are in from now
// on: nothing is in the way of the same image when it is pulled again.
func (s *Store) takeOut(image Image) (dir string, err error) {
	delete(s.images, image.ID)
	from := filepath.Dir(image.Root)
	if err := os.Remove(filepath.Join(from, aboutFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if dir, err = os.MkdirTemp(s.dir, "gone-"); err != nil {
		return "", err
	}
	if err := os.Rename(from, filepath.Join(dir, rootFolder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	return dir, nil
}

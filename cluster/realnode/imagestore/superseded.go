package imagestore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// supersededFor is the age at which a pull removes superseded images.
const supersededFor = time.Hour

// Uses sets used, which reports whether a container uses an image, by its ID. Until then no superseded image is
// removed.
func (s *Store) Uses(used func(id string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = used
}

func (i Image) named() bool { return len(i.Tags) > 0 || len(i.Origins) > 0 }

// Pruned is a superseded image that was removed, or would be by a dry run.
type Pruned struct {
	Tag   string // canonical; empty if an earlier version did not record it
	ID    string
	Bytes int64
}

// Prune removes images that lost their last name more than age ago: a dev loop leaves one with each change. It spares
// the latest image that lost each tag, images of containers, and those with a digest in keep. It returns the removed
// images, or with dryRun those that it would remove.
func (s *Store) Prune(age time.Duration, keep []string, dryRun bool) ([]Pruned, error) {
	gone, err := s.retire(time.Now().Add(-age), keep, dryRun)
	pruned := make([]Pruned, 0, len(gone))
	for _, image := range gone {
		p := Pruned{ID: image.ID, Bytes: sizeOf(image.Root)}
		p.Tag = slices.Min(slices.Collect(maps.Keys(image.Lost)))
		pruned = append(pruned, p)
		if !dryRun {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(image.Root)))
		}
	}
	slices.SortFunc(pruned, func(a, b Pruned) int { return cmp.Or(cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.ID, b.ID)) })
	if err != nil {
		return pruned, fmt.Errorf("remove superseded images: %w", err)
	}
	return pruned, nil
}

// retire returns the images that were superseded before a time. Unless dryRun is set, it takes them out of the store
// and sets their Root to the folder that waits for removal.
func (s *Store) retire(before time.Time, keep []string, dryRun bool) (gone []Image, err error) {
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
		stays := image.named() || len(image.Lost) == 0 || s.used == nil || s.used(id) || image.has(keep)
		for tag, at := range image.Lost {
			stays = stays || last[tag] == id || at.After(before)
		}
		if stays {
			continue
		}
		if !dryRun {
			dir, removeErr := s.takeOut(image)
			if err = errors.Join(err, removeErr); dir == "" {
				continue
			}
			image.Root = filepath.Join(dir, rootFolder)
		}
		gone = append(gone, image)
	}
	return gone, err
}

// has reports whether the image was pulled by one of these digests.
func (i Image) has(digests []string) bool {
	return slices.ContainsFunc(digests, func(digest string) bool {
		return slices.ContainsFunc(i.Digests, func(name string) bool { return strings.HasSuffix(name, "@"+digest) })
	})
}

// sizeOf returns the size of the files below a folder, without those that cannot be read.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// takeOut takes an image out of the store and renames its folder, so that a new pull of the same image can start. It
// requires s.mu.
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

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

// Pruned is a superseded image: a tag that it had, and what its files take.
type Pruned struct {
	Tag   string // canonical; empty for one of an earlier version, which did not write it down
	ID    string
	Bytes int64
}

// Prune removes images that no name leads to any more and that were superseded longer ago than that: a dev loop brings
// one with each change. The last one of each tag stays beside the one that took its place, and so do images of
// containers, and those that have one of the digests in keep. It returns what they were; a dry run removes nothing.
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

// retire returns the images that were superseded before that time. Unless it is a dry run, it takes them out of the
// store; their root folders are then where they lie until they are removed.
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

// sizeOf adds up the sizes of the files below a folder. What cannot be read counts for nothing.
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

package store

import (
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// NoRoomError is that an image does not fit on the store's disk. Nothing of it has been written.
type NoRoomError struct{ Needed, Free uint64 } // in bytes

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("it needs %d MiB more, but only %d MiB are free", e.Needed>>20, e.Free>>20)
}

// Free is how many bytes the store's disk has room for, unless the system does not say.
func (s Store) Free() (bytes uint64, known bool) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return 0, false
	}
	return safefs.FreeSpace(s.Dir)
}

// fits refuses an image that the disk has no room for, by the sizes in its manifests.
func (s Store) fits(img Image) error {
	needed, err := s.missing(img)
	if err != nil {
		return err
	}
	if free, known := s.Free(); known && needed > free {
		return &NoRoomError{needed, free}
	}
	return nil
}

// missing is how many bytes of an image are not in the store.
func (s Store) missing(img Image) (uint64, error) {
	sizes, err := img.Sizes()
	if err != nil {
		return 0, err
	}
	var needed uint64
	for h, size := range sizes {
		if info, err := os.Stat(s.Blob(h)); err != nil || info.Size() != size {
			needed += uint64(max(0, size))
		}
	}
	return needed, nil
}

// Sizes are the bytes of all that an image consists of, as its manifests say. Contents that two of them name count
// once, with the greater size.
func (i Image) Sizes() (map[v1.Hash]int64, error) {
	images := append([]v1.Image{}, i.About...)
	sizes := map[v1.Hash]int64{}
	if i.Index == nil {
		images = append(images, i.Image)
	} else {
		of, err := inIndex(i.Index)
		if err != nil {
			return nil, err
		}
		images = append(images, of...)
	}
	for _, img := range images {
		if err := addSizes(sizes, img); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

func addSizes(sizes map[v1.Hash]int64, img v1.Image) error {
	h, err := img.Digest()
	if err != nil {
		return err
	}
	size, err := img.Size()
	if err != nil {
		return err
	}
	m, err := img.Manifest()
	if err != nil {
		return err
	}
	sizes[h] = size
	for _, d := range append([]v1.Descriptor{m.Config}, m.Layers...) {
		sizes[d.Digest] = max(sizes[d.Digest], d.Size)
	}
	return nil
}

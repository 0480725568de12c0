package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// ErrDamaged is that contents of an image are not what their digest says, or not there.
var ErrDamaged = errors.New("its contents are damaged")

// Check compares all contents of an image with their digests.
func (s Store) Check(img Image) error {
	contents, err := img.contents()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for _, h := range contents {
		if err := s.sound(h); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return nil
}

// discard removes what there is of an image but is damaged, so that it is written anew and not taken for being there.
func (s Store) discard(img Image) error {
	contents, err := img.contents()
	if err != nil {
		return err
	}
	for _, h := range contents {
		err := s.sound(h)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		s.warn("damaged contents of an image are written again: %v", err)
		if err := os.Remove(s.Blob(h)); err != nil {
			return err
		}
	}
	return nil
}

// errOther is that contents are not what their name says.
var errOther = errors.New("its content does not match its digest")

// sound compares contents with their digest.
func (s Store) sound(h v1.Hash) error {
	f, err := os.Open(s.Blob(h))
	if err != nil {
		return err
	}
	defer f.Close()
	is, _, err := v1.SHA256(f)
	if err != nil {
		return err
	}
	if is != h {
		return &fs.PathError{Op: "check", Path: s.Blob(h), Err: errOther}
	}
	return nil
}

// contents are the digests of all that an image consists of.
func (i Image) contents() ([]v1.Hash, error) {
	images := append([]v1.Image{}, i.About...)
	var all []v1.Hash
	if i.Index == nil {
		images = append(images, i.Image)
	} else {
		of, err := inIndex(i.Index)
		if err != nil {
			return nil, err
		}
		h, err := i.Index.Digest()
		if err != nil {
			return nil, err
		}
		images, all = append(images, of...), append(all, h)
	}
	for _, img := range images {
		of, err := inImage(img)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

// inIndex are the images of an index.
func inIndex(index v1.ImageIndex) ([]v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var images []v1.Image
	for _, d := range m.Manifests {
		img, err := index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	return images, nil
}

// inImage are the digests of an image.
func inImage(img v1.Image) ([]v1.Hash, error) {
	h, err := img.Digest()
	if err != nil {
		return nil, err
	}
	m, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	all := []v1.Hash{h, m.Config.Digest}
	for _, l := range m.Layers {
		all = append(all, l.Digest)
	}
	return all, nil
}

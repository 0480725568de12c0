package transfer

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/store"
)

// modestIndex refuses an index with more images than any should have, or with larger ones. All of them together have
// the limit of one image.
func modestIndex(index v1.ImageIndex) error {
	m, err := index.IndexManifest()
	if err != nil {
		return err
	}
	if len(m.Manifests) > maxPlatforms {
		return fmt.Errorf("%w: it has %d platforms, and the limit is %d", errLarge, len(m.Manifests), maxPlatforms)
	}
	for _, one := range m.Manifests {
		if !one.MediaType.IsImage() { // the library would write whatever that is, without a limit
			return fmt.Errorf("%w: %q", errOther, one.MediaType)
		}
		img, err := index.Image(one.Digest)
		if err != nil {
			return err
		}
		if err := modest(img); err != nil {
			return err
		}
	}
	return modestSum(store.Image{Index: index})
}

// modest refuses an image that says it is larger than any should be.
func modest(img v1.Image) error {
	size, err := img.Size()
	if err != nil {
		return err
	}
	if size > maxManifest {
		return fmt.Errorf("%w: its manifest has %d bytes, and the limit is %d", errLarge, size, maxManifest)
	}
	m, err := img.Manifest()
	if err != nil {
		return err
	}
	if m.Config.Size < 0 || m.Config.Size > maxConfig { // the library reads what has no size to its end
		return fmt.Errorf("%w: its configuration has %d bytes, and the limit is %d", errLarge, m.Config.Size, maxConfig)
	}
	for _, l := range m.Layers {
		if l.Size < 0 || l.Size > maxImage {
			return fmt.Errorf("%w: a layer has more than %d GiB", errLarge, maxImage>>30)
		}
	}
	return modestSum(store.Image{Image: img})
}

// modestSum refuses an image whose contents, none of which is above the limit, are above it together.
func modestSum(img store.Image) error {
	sizes, err := img.Sizes()
	if err != nil {
		return err
	}
	var sum int64
	for _, size := range sizes {
		if sum += size; sum > maxImage {
			return fmt.Errorf("%w: its layers have more than %d GiB", errLarge, maxImage>>30)
		}
	}
	return nil
}

package transfer

import (
	"context"
	"errors"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
)

// Limits for what a registry or an archive says that an image consists of. A layer or a configuration that has more
// bytes than its manifest says is an error of the library, and so is one with another digest.
const (
	maxManifest  = 4 << 20 // as registries have it
	maxConfig    = 8 << 20
	maxImage     = 64 << 30 // all platforms together; as on real nodes
	maxPlatforms = 64
)

var (
	errLarge = errors.New("the image is too large")
	errOther = errors.New("its index lists contents that are not images")
)

// Pull returns an image of a registry, or of its mirror, for a platform. Its layers are fetched when they are read.
func (r Registries) Pull(ctx context.Context, from name.Reference, platform v1.Platform) (v1.Image, error) {
	at, err := r.Mirrors.Of(from)
	if err != nil {
		return nil, err
	}
	img, err := remote.Image(at, append(r.options(ctx), remote.WithPlatform(platform))...)
	if err == nil {
		err = modest(img)
	}
	if err != nil {
		return nil, explainPull(ctx, from, at, err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, explainPull(ctx, from, at, err)
	}
	if file.Architecture != "" && (file.OS != platform.OS || file.Architecture != platform.Architecture) { // it is no index
		return nil, &report.Error{What: "the image has no platform " + platform.String(), Where: from.Name(), Hint: "its platforms are " + file.Platform().String(), Code: report.UsageCode}
	}
	return img, nil
}

// PullDigest returns what a registry, or its mirror, has under a digest: an image, or an index with those of all
// platforms, since no other contents have that digest.
func (r Registries) PullDigest(ctx context.Context, from name.Digest) (store.Image, error) {
	at, err := r.Mirrors.Of(from)
	if err != nil {
		return store.Image{}, err
	}
	img, err := r.all(ctx, at)
	if err != nil {
		return store.Image{}, explainPull(ctx, from, at, err)
	}
	return img, nil
}

func (r Registries) all(ctx context.Context, at name.Reference) (store.Image, error) {
	d, err := remote.Get(at, r.options(ctx)...)
	if err != nil {
		return store.Image{}, err
	}
	if !d.MediaType.IsIndex() {
		img, err := d.Image()
		if err != nil {
			return store.Image{}, err
		}
		return store.Image{Image: img}, modest(img)
	}
	index, err := d.ImageIndex()
	if err != nil {
		return store.Image{}, err
	}
	return store.Image{Index: index}, modestIndex(index)
}

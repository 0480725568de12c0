// Package container writes the container image of a release: an archive in the layout of OCI, with what `slipway image
// build` puts below each program, and the programs of both Linux platforms.
//
//	err := container.Image{Version: "v0.1.0", Date: date, Platforms: platforms, Goroot: goroot, Temp: dir}.Save(ctx, file)
//
// It is made by the packages that slipway itself builds images with. `slipway image build` compiles the working copy,
// which knows no version; this packs the programs of the archives, which were compiled at the release's version.
package container

import (
	"context"
	"path"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/rootfs"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/transfer"
)

// Program is a program in the image.
type Program struct{ Name, Path string }

// Platform has the programs for a processor.
type Platform struct {
	Arch     string
	Programs []Program
}

// Image is the image of a release.
type Image struct {
	Version, Commit string
	Date            time.Time
	Platforms       []Platform
	Goroot          string // folder of Go, which has the time zones
	Temp            string // a folder to use
}

// Repository is the image's name without its tag.
const Repository = "ghcr.io/slipway-dev/slipway"

// folder is where the programs lie, on the path.
const folder = "usr/local/bin"

// Save writes the archive. It is whole or not there.
func (i Image) Save(ctx context.Context, file string) error {
	tag, err := name.NewTag(Repository + ":" + i.Version)
	if err != nil {
		return err
	}
	base, err := rootfs.Files(i.Goroot)
	if err != nil {
		return err
	}
	below, err := pack.Layer(base, i.Date, i.Temp)
	if err != nil {
		return err
	}
	var images []v1.Image
	for _, p := range i.Platforms {
		img, err := i.image(below, p)
		if err != nil {
			return err
		}
		images = append(images, img)
	}
	index, err := pack.Index(images)
	if err != nil {
		return err
	}
	return transfer.SaveOCI(ctx, file, tag, store.Image{Index: index}, i.Temp)
}

// image is that of one platform: a layer for each program, which later versions may share.
func (i Image) image(below v1.Layer, p Platform) (v1.Image, error) {
	parts := []pack.Part{{Layer: below, By: "slipway: certificates, users, time zones"}}
	for _, program := range p.Programs {
		layer, err := pack.ProgramLayer(program.Path, path.Join(folder, program.Name), i.Date, i.Temp)
		if err != nil {
			return nil, err
		}
		parts = append(parts, pack.Part{Layer: layer, By: "slipway: " + program.Name})
	}
	return pack.Image(pack.Scratch(), i.spec(p.Arch), parts...)
}

// spec is what the image says of itself.
func (i Image) spec(arch string) pack.Spec {
	return pack.Spec{
		Platform: v1.Platform{OS: "linux", Architecture: arch}, Created: i.Date, User: "65532:65532", Workdir: "/home/nonroot",
		Entrypoint: []string{"/" + folder + "/slipway"}, Env: []string{"PATH=/usr/local/bin", "HOME=/home/nonroot"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "slipway", "org.opencontainers.image.version": i.Version, "org.opencontainers.image.revision": i.Commit,
			"org.opencontainers.image.source": "https://github.com/slipway-dev/slipway", "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
}

package image

import (
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/store"
)

// describe tells what an image is, with its bills of materials if they are asked for.
func describe(e store.Entry, withBill bool) (Image, error) {
	d := Image{Name: familiar(e.Name), Digest: e.Descriptor.Digest.String(), MediaType: string(e.Descriptor.MediaType)}
	images, err := images(e)
	if err != nil {
		return d, err
	}
	seen := map[string]bool{} // layers that platforms have in common are pushed once
	if e.Index != nil {
		d.Size = e.Descriptor.Size
	}
	for _, img := range images {
		p, err := describeOne(img)
		if err != nil {
			return d, err
		}
		if withBill {
			if p.SBOM, err = billOf(e, p.Digest); err != nil {
				return d, err
			}
		}
		d.Size += p.Size
		for _, l := range p.Layers {
			if seen[l.Digest] {
				d.Size -= l.Size
			}
			seen[l.Digest] = true
		}
		d.Platforms = append(d.Platforms, p)
	}
	return d, nil
}

// familiar is a full name as people write it.
func familiar(name string) string {
	name, hub := strings.CutPrefix(name, "index.docker.io/")
	if hub {
		name = strings.TrimPrefix(name, "library/")
	}
	return name
}

// images are those of an entry's platforms.
func images(e store.Entry) ([]v1.Image, error) {
	if e.Index == nil {
		return []v1.Image{e.Image.Image}, nil
	}
	m, err := e.Index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var all []v1.Image
	for _, d := range m.Manifests {
		img, err := e.Index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		all = append(all, img)
	}
	return all, nil
}

func describeOne(img v1.Image) (Platform, error) {
	digest, err := img.Digest()
	if err != nil {
		return Platform{}, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return Platform{}, err
	}
	manifest, err := img.Manifest()
	if err != nil {
		return Platform{}, err
	}
	size, err := img.Size()
	if err != nil {
		return Platform{}, err
	}
	p := Platform{Platform: file.Platform().String(), Digest: digest.String(), Created: file.Created.UTC().Format(time.RFC3339), User: file.Config.User,
		Entrypoint: file.Config.Entrypoint, Command: file.Config.Cmd, Env: file.Config.Env, Labels: file.Config.Labels, Size: size + manifest.Config.Size}
	made := makers(file)
	for i, l := range manifest.Layers {
		p.Size += l.Size
		layer := Layer{Digest: l.Digest.String(), Size: l.Size}
		if i < len(made) {
			layer.Made = made[i]
		}
		p.Layers = append(p.Layers, layer)
	}
	return p, nil
}

// makers tell what made each layer.
func makers(file *v1.ConfigFile) []string {
	var made []string
	for _, h := range file.History {
		if !h.EmptyLayer {
			made = append(made, h.CreatedBy)
		}
	}
	return made
}

// billOf finds the bill of materials of the image with a digest.
func billOf(e store.Entry, digest string) ([]byte, error) {
	for _, about := range e.About {
		m, err := about.Manifest()
		if err != nil {
			return nil, err
		}
		if m.Subject != nil && m.Subject.Digest.String() == digest {
			return document(about)
		}
	}
	return nil, nil
}

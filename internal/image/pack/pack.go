// Package pack makes OCI images: of files, of a program, and of what is said about them.
//
//	base, err := pack.Layer(rootfs, created, scratch)      // shared by all images
//	program, err := pack.Layer(files, created, scratch)
//	img, err := pack.Image(empty, pack.Spec{…}, base, program)
//	artifact, err := pack.Artifact(sbom, mediaType, img)   // about the image
//
// Everything is given, time and order included: the same input makes the same bytes.
package pack

import (
	"cmp"
	"maps"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Spec is what an image says besides its layers.
type Spec struct {
	Platform   v1.Platform
	Created    time.Time
	User       string
	Workdir    string
	Volumes    []string
	StopSignal string
	Entrypoint []string
	Command    []string
	Env        []string
	Labels     map[string]string
}

// Part is a layer and what made it, for the image's history.
type Part struct {
	v1.Layer
	By string
}

// Scratch is an image without anything.
func Scratch() v1.Image {
	return mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
}

// Image puts layers on top of a base.
func Image(base v1.Image, spec Spec, parts ...Part) (v1.Image, error) {
	img := base
	for _, part := range parts {
		addendum := mutate.Addendum{Layer: part.Layer, History: v1.History{CreatedBy: part.By, Created: v1.Time{Time: spec.Created}, Author: "slipway"}}
		if mediaType, err := base.MediaType(); err != nil {
			return nil, err
		} else if mediaType == types.DockerManifestSchema2 {
			addendum.MediaType = types.DockerLayer
		}
		var err error
		if img, err = mutate.Append(img, addendum); err != nil {
			return nil, err
		}
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Variant = spec.Platform.OS, spec.Platform.Architecture, spec.Platform.Variant
	file.Created = v1.Time{Time: spec.Created}
	c := &file.Config
	c.User, c.Entrypoint, c.Cmd, c.WorkingDir = spec.User, spec.Entrypoint, spec.Command, cmp.Or(spec.Workdir, "/")
	c.StopSignal = cmp.Or(spec.StopSignal, c.StopSignal)
	for _, volume := range spec.Volumes {
		if c.Volumes == nil {
			c.Volumes = map[string]struct{}{}
		}
		c.Volumes[volume] = struct{}{}
	}
	c.Env = environment(c.Env, spec.Env)
	if len(spec.Labels) > 0 {
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		maps.Copy(c.Labels, spec.Labels)
	}
	return mutate.ConfigFile(img, file)
}

// environment adds variables to those of the base. The later one of a name counts.
func environment(base, more []string) []string {
	names := func(s string) string {
		for i := range len(s) {
			if s[i] == '=' {
				return s[:i]
			}
		}
		return s
	}
	all := slices.Clone(base)
	for _, e := range more {
		all = slices.DeleteFunc(all, func(o string) bool { return names(o) == names(e) })
		all = append(all, e)
	}
	return all
}

// Index puts the images of several platforms under one name.
func Index(images []v1.Image) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, img := range images {
		file, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: file.Platform()}})
	}
	return index, nil
}

// Artifact is a document about an image, which registries list among its referrers.
func Artifact(text []byte, mediaType types.MediaType, about v1.Descriptor) (v1.Image, error) {
	// The config's type is what registries without a field for it take for the type of the artifact.
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mediaType)
	img, err := mutate.Append(img, mutate.Addendum{Layer: static.NewLayer(text, mediaType)})
	if err != nil {
		return nil, err
	}
	subject, ok := mutate.Subject(img, v1.Descriptor{MediaType: about.MediaType, Size: about.Size, Digest: about.Digest}).(v1.Image)
	if !ok {
		return nil, errNoImage
	}
	return subject, nil
}

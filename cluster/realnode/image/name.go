package image

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// Canonical is a reference with all that it leaves out: `nginx` becomes `index.docker.io/library/nginx:latest`.
func Canonical(ref string) (string, error) {
	r, err := name.ParseReference(ref)
	if err != nil {
		return "", fmt.Errorf("image name %q: %w", ref, err)
	}
	return r.Name(), nil
}

// candidates are the places where an image may be had, in the order in which they are asked.
func candidates(ref, registry string) ([]name.Reference, error) {
	p, err := places.Of(ref, registry)
	if err != nil {
		return nil, err
	}
	if p.Loaded == nil {
		return []name.Reference{p.Own}, nil
	}
	return []name.Reference{p.Loaded, p.Own}, nil
}

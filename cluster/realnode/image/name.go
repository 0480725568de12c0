package image

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
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
	own, err := name.ParseReference(ref)
	if err != nil {
		return nil, fmt.Errorf("image name %q: %w", ref, err)
	}
	if registry == "" {
		return []name.Reference{own}, nil
	}
	loaded, err := name.ParseReference(registry + "/" + loadedName(own))
	if err != nil {
		return nil, fmt.Errorf("image name %q in the cluster's registry: %w", ref, err)
	}
	return []name.Reference{loaded, own}, nil
}

// loadedName is what a loaded image is called in the cluster's registry. A port is no part of a repository's name.
func loadedName(r name.Reference) string {
	host := strings.ReplaceAll(r.Context().RegistryStr(), ":", "_")
	separator := ":"
	if _, ok := r.(name.Digest); ok {
		separator = "@"
	}
	return host + "/" + r.Context().RepositoryStr() + separator + r.Identifier()
}

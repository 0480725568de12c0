package imagestore

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
)

// Canonical returns the full form of a reference: `nginx` becomes `index.docker.io/library/nginx:latest`.
func Canonical(ref string) (string, error) {
	r, err := name.ParseReference(ref)
	if err != nil {
		return "", fmt.Errorf("image name %q: %w", ref, err)
	}
	return r.Name(), nil
}

package registry

import (
	"context"
	"slices"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/cluster/registry/disk"
	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// Has says whether a pod's image is here, loaded or pushed. It needs no network; what is no name of an image is not
// here.
func (r *Registry) Has(ref string) bool {
	p, err := places.Of(ref, r.Address())
	if err != nil {
		return false
	}
	return slices.ContainsFunc(p.Here(), r.holds)
}

func (r *Registry) holds(ref name.Reference) bool {
	ctx, repo := context.Background(), ref.Context().RepositoryStr()
	if d, ok := ref.(name.Digest); ok {
		_, err := r.images.ResolveManifest(ctx, repo, ociregistry.Digest(d.DigestStr()))
		return err == nil
	}
	_, err := r.images.ResolveTag(ctx, repo, ref.Identifier())
	return err == nil
}

// Empty says whether no image is here.
func (r *Registry) Empty() bool {
	for repo, err := range r.images.Repositories(context.Background(), "") {
		if err != nil {
			return true
		}
		for _, err := range r.images.Tags(context.Background(), repo, "") {
			if err == nil {
				return false
			}
		}
	}
	return true
}

// Follow has f called whenever an image has come, until ctx ends. The push is answered when f returns: who has pushed
// an image may count on what follows from it.
func (r *Registry) Follow(ctx context.Context, f func()) { r.images.follow(ctx, f) }

// Prune removes superseded images that were not asked for for that long, and returns what they were. A dry run removes
// nothing.
func (r *Registry) Prune(age time.Duration, dryRun bool) ([]disk.Pruned, error) {
	return r.backend.Prune(age, dryRun)
}

// imagesLimit bounds the question which images pods have, which takes milliseconds.
const imagesLimit = 10 * time.Second

// digests are those in the names of images that list returns.
func digests(list func(context.Context) ([]string, error)) (found []ociregistry.Digest, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), imagesLimit)
	defer cancel()
	names, err := list(ctx)
	for _, d := range places.Digests(names) {
		found = append(found, ociregistry.Digest(d))
	}
	return found, err
}

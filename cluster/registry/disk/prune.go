package disk

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

// Pruned is an image that nothing needs, or what is left of pushes: that has no repository.
type Pruned struct {
	Repository string
	Digest     ociregistry.Digest
	Size       int64 // of the contents that no other image needs
}

// Prune removes what a sweep would, once it was not asked for for that long, and returns it. A dry run removes nothing.
// Contents that a push relies on stay.
func (b *Backend) Prune(age time.Duration, dryRun bool) ([]Pruned, error) {
	b.sweep.mu.Lock()
	defer b.sweep.mu.Unlock()
	var used []ociregistry.Digest
	if b.used != nil {
		var err error
		if used, err = b.used(); err != nil {
			return nil, fmt.Errorf("find the images that pods use: %w", err)
		}
	}
	b.use.Lock()
	defer b.use.Unlock()
	left, err := b.leftovers(used, age)
	if err != nil {
		return nil, fmt.Errorf("look for superseded images: %w", err)
	}
	pruned := b.describe(left)
	if dryRun {
		return pruned, nil
	}
	b.sweepBegins()
	if err := b.removeAll(left); err != nil {
		return nil, fmt.Errorf("remove superseded images: %w", err)
	}
	return pruned, nil
}

// describe counts contents that several images have once. What is about an image goes with it, and so do the images of
// an index.
func (b *Backend) describe(left leftovers) []Pruned {
	var all []Pruned
	counted := map[ociregistry.Digest]bool{}
	for repo, manifests := range left.manifests {
		parts := map[ociregistry.Digest][]ociregistry.Digest{}
		within := map[ociregistry.Digest]bool{}
		for _, d := range manifests {
			m, _, err := b.read(repo, d)
			if err != nil {
				continue
			}
			for _, part := range m.parts() {
				parts[d] = append(parts[d], part.Digest)
				within[part.Digest] = true
			}
			if m.Subject != nil && slices.Contains(manifests, m.Subject.Digest) {
				parts[m.Subject.Digest] = append(parts[m.Subject.Digest], d)
				within[d] = true
			}
		}
		for _, d := range manifests {
			if !within[d] {
				all = append(all, Pruned{repo, d, left.count(d, parts, counted)})
			}
		}
	}
	slices.SortFunc(all, func(a, b Pruned) int {
		return cmp.Or(cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Digest, b.Digest))
	})
	var rest int64
	for d, size := range left.blobs {
		if !counted[d] {
			rest += size
		}
	}
	if rest > 0 {
		all = append(all, Pruned{Size: rest})
	}
	return all
}

// count is the size of what goes with a manifest and was not counted yet.
func (l leftovers) count(d ociregistry.Digest, parts map[ociregistry.Digest][]ociregistry.Digest, counted map[ociregistry.Digest]bool) int64 {
	if counted[d] {
		return 0
	}
	counted[d] = true
	size := l.blobs[d]
	for _, part := range parts[d] {
		size += l.count(part, parts, counted)
	}
	return size
}

package registry

import (
	"context"
	"sync"

	"cuelabs.dev/go/oci/ociregistry"
)

// arrivals tells those who follow of each image that came.
type arrivals struct {
	ociregistry.Interface

	mu        sync.Mutex
	followers map[*func()]bool
}

func newArrivals(to ociregistry.Interface) *arrivals {
	return &arrivals{Interface: to, followers: map[*func()]bool{}}
}

// PushManifest takes a manifest. One with a tag is an image, or an index of images: all that belongs to it came before.
func (a *arrivals) PushManifest(ctx context.Context, repo, tag string, contents []byte, mediaType string) (ociregistry.Descriptor, error) {
	d, err := a.Interface.PushManifest(ctx, repo, tag, contents, mediaType)
	if err == nil && tag != "" {
		a.tell()
	}
	return d, err
}

func (a *arrivals) tell() {
	a.mu.Lock()
	all := make([]func(), 0, len(a.followers))
	for f := range a.followers {
		all = append(all, *f)
	}
	a.mu.Unlock()
	for _, f := range all {
		f()
	}
}

// follow has f called with each image, until ctx ends.
func (a *arrivals) follow(ctx context.Context, f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.followers[&f] = true
	context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.followers, &f)
	})
}

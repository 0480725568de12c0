package imagestore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// Current returns the image that a pod of now runs. It pulls the image that the cluster's registry has under the name,
// unless it has done so. Any other image that was pulled under a tag is no answer then. An image that is neither there
// nor here is [ErrUnknown].
func (s *Store) Current(ctx context.Context, ref string) (Image, error) {
	known, err := s.Get(ref)
	if err == nil && fixed(known, ref) {
		return known, nil
	}
	if err != nil && !errors.Is(err, ErrUnknown) {
		return Image{}, err
	}
	at, locateErr := s.locate(ctx, ref)
	switch {
	case locateErr != nil:
		return Image{}, locateErr
	case at.here == nil || err == nil && known.Origins[at.own.Name()].Here == at.digest():
		return known, err
	}
	return s.Pull(ctx, ref, nil)
}

// fixed says whether a name can lead to no other image than that: it is its ID, or has a digest.
func fixed(image Image, ref string) bool {
	_, err := name.NewDigest(ref)
	return ref == image.ID || err == nil
}

// location is where an image may be had.
type location struct {
	own  name.Reference // its name in full
	here *name.Digest   // in the cluster's registry; nil if it is not there
}

// digest is what the name leads to in the cluster's registry; empty for nothing.
func (l location) digest() string {
	if l.here == nil {
		return ""
	}
	return l.here.DigestStr()
}

// locate finds out where an image may be had now.
func (s *Store) locate(ctx context.Context, ref string) (location, error) {
	p, err := places.Of(ref, s.options.Registry)
	if err != nil {
		return location{}, err
	}
	for _, place := range p.Here() {
		digest, err := s.resolve(ctx, place)
		if err != nil {
			return location{}, fmt.Errorf("ask the cluster's registry for %s: %w", place.Name(), err)
		}
		if digest != "" {
			found := place.Context().Digest(digest)
			return location{p.Own, &found}, nil
		}
	}
	return location{own: p.Own}, nil
}

// resolveLimit bounds a question that takes a millisecond.
const resolveLimit = 10 * time.Second

// resolve asks the cluster's registry for the digest that a name has there; empty if it has none. It is one request,
// where the library would first ask how to speak to the registry.
func (s *Store) resolve(ctx context.Context, place name.Reference) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	url := "http://" + s.options.Registry + "/v2/" + place.Context().RepositoryStr() + "/manifests/" + place.Identifier()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, http.NoBody)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: s.options.Transport}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return response.Header.Get("Docker-Content-Digest"), nil
	case http.StatusNotFound:
		return "", nil
	}
	return "", fmt.Errorf("unexpected answer %s", response.Status)
}

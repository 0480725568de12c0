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

// Current returns the image that a pod started now must run. It pulls the image that the cluster's registry has under
// this name, unless the store has it. An older image under the same tag is no substitute then. If neither the registry
// nor the store has the image, the error is [ErrUnknown].
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

// fixed reports whether ref can mean no other image: it is an ID or has a digest.
func fixed(image Image, ref string) bool {
	_, err := name.NewDigest(ref)
	return ref == image.ID || err == nil
}

// location is where an image can be pulled from.
type location struct {
	own  name.Reference // the full name
	here *name.Digest   // in the cluster's registry; nil if not there
}

// digest returns the digest in the cluster's registry, or "".
func (l location) digest() string {
	if l.here == nil {
		return ""
	}
	return l.here.DigestStr()
}

// locate looks an image up in the cluster's registry.
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

// resolveLimit bounds a request that usually takes a millisecond.
const resolveLimit = 10 * time.Second

// resolve returns the digest of a name in the cluster's registry, or "" if the registry lacks it. It sends one request;
// the library would first ping the registry.
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

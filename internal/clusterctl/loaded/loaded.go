// Package loaded says which image a name leads to in the registry of an embedded cluster, where the cluster's nodes
// look first:
//
//	digests, err := loaded.Digests(ctx, "127.0.0.1:5001", "operator:v1")
//
// docs/inside/protocol.md says where images are there.
package loaded

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/internal/image/reference"
)

const (
	// limit bounds a question, which takes some milliseconds.
	limit = 10 * time.Second
	// maxManifest is more than the registry takes.
	maxManifest = 8 << 20
)

// kinds are what a tag may lead to: an image, or an index of the images for several platforms.
const kinds = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, " +
	"application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"

// Digests are those of the image that a name leads to in the registry, host:port: the first one is the tag's own,
// behind that of an index are those for each platform. There are none for what is not there, and for a name with a
// digest, which leads to one image for good.
func Digests(ctx context.Context, registry, image string) ([]string, error) {
	ref, err := reference.Parse(image)
	if err != nil {
		return nil, err
	}
	if _, ok := ref.(name.Tag); !ok {
		return nil, nil
	}
	_, digests, err := found(ctx, registry, ref)
	return digests, err
}

// Has reports whether the registry has an image, by a tag or by a digest.
func Has(ctx context.Context, registry, image string) (bool, error) {
	ref, err := reference.Parse(image)
	if err != nil {
		return false, err
	}
	_, digests, err := found(ctx, registry, ref)
	return len(digests) > 0, err
}

// Mirror is the mirror from which an image that the registry has can be pulled, in the form of
// [reference.ParseMirrors]; empty if it does not have the image.
func Mirror(ctx context.Context, registry, image string) (string, error) {
	ref, err := reference.Parse(image)
	if err != nil {
		return "", err
	}
	repository, digests, err := found(ctx, registry, ref)
	if err != nil || len(digests) == 0 {
		return "", err
	}
	below := strings.TrimSuffix(strings.TrimSuffix(repository, ref.Context().RepositoryStr()), "/")
	return ref.Context().RegistryStr() + "=" + strings.TrimSuffix(registry+"/"+below, "/"), nil
}

// found are the digests of what the registry has under a name, and the repository that has it.
func found(ctx context.Context, registry string, ref name.Reference) (repository string, digests []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, repository := range repositories(registry, ref) {
		digests, err := ask(ctx, "http://"+registry+"/v2/"+repository+"/manifests/"+ref.Identifier())
		if err != nil {
			return "", nil, fmt.Errorf("ask the registry %s for %s: %w", registry, ref, err)
		}
		if len(digests) > 0 {
			return repository, digests, nil
		}
	}
	return "", nil, nil
}

// repositories are where an image may be in the registry: loaded under the name that it has elsewhere or, if its name
// has the registry's own address, pushed.
func repositories(registry string, ref name.Reference) []string {
	all := []string{reference.Kept(ref)}
	if Same(ref.Context().RegistryStr(), registry) {
		all = append(all, ref.Context().RepositoryStr())
	}
	return all
}

// Same says whether two addresses, host:port, are the same port of this machine.
func Same(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	return errA == nil && errB == nil && portA == portB && reference.OnLoopback(hostA) && reference.OnLoopback(hostB)
}

// ask returns the digests of a manifest and of those that it lists.
func ask(ctx context.Context, url string) ([]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", kinds)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusNotFound:
		return nil, nil
	case http.StatusOK:
	default:
		return nil, fmt.Errorf("unexpected answer %s", response.Status)
	}
	var manifest struct {
		Manifests []struct{ Digest string }
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxManifest)).Decode(&manifest); err != nil {
		return nil, err
	}
	digests := []string{response.Header.Get("Docker-Content-Digest")}
	for _, m := range manifest.Manifests {
		digests = append(digests, m.Digest)
	}
	return digests, nil
}

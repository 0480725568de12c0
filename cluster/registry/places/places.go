// Package places says where an image may be had in a cluster that has a registry of its own. The code that looks for
// one, to pull it or to decide where its pod runs, looks in the same places:
//
//	found, err := places.Of("controller:v1", "127.0.0.1:5001")
//	found.Loaded // 127.0.0.1:5001/index.docker.io/library/controller:v1: what was loaded
//	found.Own    // index.docker.io/library/controller:v1: where the reference leads
//
// docs/inside/protocol.md has the rule for others.
package places

import (
	"fmt"
	"net"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Places are where an image may be had, in the order in which they are asked.
type Places struct {
	Loaded name.Reference // in the cluster's registry, under the name of an image of elsewhere; nil without such a registry
	Own    name.Reference // as the reference says
	// Pushed says that Own is in the cluster's registry, too: the image was pushed there and not loaded.
	Pushed bool
}

// Of returns the places for a reference in a cluster with that registry, host:port; empty for none.
func Of(ref, registry string) (Places, error) {
	own, err := name.ParseReference(ref)
	if err != nil {
		return Places{}, fmt.Errorf("image name %q: %w", ref, err)
	}
	if registry == "" {
		return Places{Own: own}, nil
	}
	loaded, err := name.ParseReference(registry + "/" + loadedName(own))
	if err != nil {
		return Places{}, fmt.Errorf("image name %q in the cluster's registry: %w", ref, err)
	}
	return Places{Loaded: loaded, Own: own, Pushed: Same(own.Context().RegistryStr(), registry)}, nil
}

// Here are the names that an image may have in the cluster's registry, in the order in which they are asked for; none
// without such a registry.
func (p Places) Here() []name.Reference {
	var here []name.Reference
	if p.Loaded != nil {
		here = append(here, p.Loaded)
	}
	if p.Pushed {
		here = append(here, p.Own)
	}
	return here
}

// Digests are those in names of images; a name may have none.
func Digests(names []string) (digests []string) {
	for _, each := range names {
		if d, err := name.NewDigest(each); err == nil {
			digests = append(digests, d.DigestStr())
		}
	}
	return digests
}

// Mirrored is where an image is asked for whose registry may have a mirror: host[:port][/path] by the registry's full
// name.
func Mirrored(own name.Reference, mirrors map[string]string) (name.Reference, error) {
	mirror, ok := mirrors[own.Context().RegistryStr()]
	if !ok {
		return own, nil
	}
	host, path, _ := strings.Cut(mirror, "/")
	registry, err := name.NewRegistry(host)
	if err != nil {
		return nil, fmt.Errorf("mirror %s: %w", mirror, err)
	}
	at := registry.Repo(strings.TrimPrefix(path+"/"+own.Context().RepositoryStr(), "/"))
	if digest, ok := own.(name.Digest); ok {
		return at.Digest(digest.DigestStr()), nil
	}
	return at.Tag(own.Identifier()), nil
}

// loadedName is what a loaded image is called in the cluster's registry. A port is no part of a repository's name.
func loadedName(r name.Reference) string {
	host := strings.NewReplacer(":", "_", "[", "", "]", "").Replace(strings.ToLower(r.Context().RegistryStr()))
	separator := ":"
	if _, ok := r.(name.Digest); ok {
		separator = "@"
	}
	return host + "/" + r.Context().RepositoryStr() + separator + r.Identifier()
}

// Same says whether two addresses, host:port, are the same port of this machine's loopback, whatever each calls it.
func Same(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	return errA == nil && errB == nil && portA == portB && onLoopback(hostA) && onLoopback(hostB)
}

// OnLoopback says whether an address, host or host:port, is this machine's.
func OnLoopback(address string) bool {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return onLoopback(host)
	}
	return onLoopback(address)
}

func onLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

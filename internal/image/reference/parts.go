package reference

import (
	"net"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Split takes the name of an image apart, as far as it has the parts: what a manifest or a Dockerfile holds may be no
// name at all, or one that is completed later. [Parse] judges names.
func Split(text string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(text, "@")
	if at := strings.LastIndex(repository, ":"); at > strings.LastIndex(repository, "/") {
		repository, tag = repository[:at], repository[at+1:]
	}
	return repository, tag, digest
}

// Registry is the registry of an image, host or host:port; empty if text is no name.
func Registry(text string) string {
	ref, err := name.ParseReference(text)
	if err != nil {
		return ""
	}
	return ref.Context().RegistryStr()
}

// OnLoopback reports whether an address, host or host:port, is on the machine of the program that asks for it.
func OnLoopback(address string) bool {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}

// Kept is the repository in which the registry of an embedded cluster keeps an image that was loaded:
// docs/inside/protocol.md says where images are there.
func Kept(tag name.Reference) string {
	host := strings.NewReplacer(":", "_", "[", "", "]", "").Replace(strings.ToLower(tag.Context().RegistryStr()))
	return host + "/" + tag.Context().RepositoryStr()
}

// Package reference reads the names of images.
//
//	tag, err := reference.ParseTag("registry.example.com/operator")     // …:latest
//	ref, err := reference.Parse("registry.example.com/operator@sha256:…")
//
// It accepts what registries, container runtimes and the kubelet accept, and nothing else. It stands alone, so that who
// only has to judge a name need not have the libraries that images take.
package reference

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// ParseTag reads the name of an image, with a tag; latest if it has none.
func ParseTag(text string) (name.Tag, error) {
	if strings.Contains(text, "@") {
		return name.Tag{}, refused(text, errDigest)
	}
	tag, err := name.NewTag(text)
	if err == nil {
		err = check(tag.Context())
	}
	if err != nil {
		return tag, refused(text, err)
	}
	return tag, nil
}

// Parse reads the name of an image, with a tag or a digest.
func Parse(text string) (name.Reference, error) {
	ref, err := name.ParseReference(text)
	if err == nil {
		err = check(ref.Context())
	}
	if err != nil {
		return nil, refused(text, err)
	}
	return ref, nil
}

var (
	errDigest     = errors.New("a new image cannot be named by a digest")
	errScheme     = errors.New("a name must not begin with a scheme")
	errRegistry   = errors.New("the registry is not HOST or HOST:PORT")
	errTag        = errors.New("a tag has up to 128 letters, digits, and _ . - behind the first one")
	errHash       = errors.New("a digest is an algorithm, a colon and hexadecimal digits")
	errRepository = errors.New("parts between slashes must have lower-case letters and digits, with one of . _ __ - between them")
)

// The grammar of the distribution specification, which the library checks the letters of only.
var (
	host        = lazy.Regexp(`^(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::([0-9]+))?$`)
	imageTag    = lazy.Regexp(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$`)
	imageDigest = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9]*(?:[-_+.][a-zA-Z][a-zA-Z0-9]*)*:[a-fA-F0-9]{32,}$`)
	repository  = lazy.Regexp(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
)

// check judges a repository by the grammar.
func check(r name.Repository) error {
	if registry := r.RegistryStr(); registry == "http:" || registry == "https:" {
		return errScheme
	}
	parts := host().FindStringSubmatch(r.RegistryStr())
	if parts == nil {
		return errRegistry
	}
	if _, err := strconv.ParseUint(parts[1], 10, 16); parts[1] != "" && err != nil {
		return errRegistry
	}
	if !repository().MatchString(r.RepositoryStr()) {
		return errRepository
	}
	return nil
}

// Check judges a name that a pod has for its image, by the grammar alone, as kubelets do: [Parse] takes no repository
// of one letter.
func Check(text string) error {
	rest, tag, digest := Split(text)
	first, below, found := strings.Cut(rest, "/")
	hosted := found && (strings.ContainsAny(first, ".:") || first == "localhost")
	if hosted {
		rest = below
	}
	switch {
	case strings.HasSuffix(text, "@"), digest != "" && !imageDigest().MatchString(digest):
		return refused(text, errHash)
	case strings.HasSuffix(text, ":"), tag != "" && !imageTag().MatchString(tag):
		return refused(text, errTag)
	case hosted && !host().MatchString(first):
		return refused(text, errRegistry)
	case !repository().MatchString(rest):
		return refused(text, errRepository)
	}
	return nil
}

func refused(text string, err error) error {
	return &report.Error{What: fmt.Sprintf("invalid image name %q", text), Err: err, Hint: "use a name like registry.example.com/team/operator:v1", Code: report.UsageCode}
}

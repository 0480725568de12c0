package reference

import (
	"fmt"
	"maps"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/internal/report"
)

// MirrorVariable names mirrors for all verbs, and for the real nodes of clusters that start.
const MirrorVariable = "SLIPWAY_MIRROR"

// Mirrors are the mirrors that are asked in place of registries: by a registry's full name, host or host:port, the
// mirror's host or host:port, with the path below which it has that registry's repositories.
type Mirrors map[string]string

// ParseMirrors reads mirrors of the form REGISTRY=HOST[:PORT][/PATH], with commas between them. The parameter where is
// the flag or the variable that they come from.
func ParseMirrors(text, where string) (Mirrors, error) {
	mirrors := Mirrors{}
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		registry, mirror, err := parseMirror(one)
		if err != nil {
			return nil, &report.Error{
				What: fmt.Sprintf("invalid mirror, not REGISTRY=HOST[:PORT][/PATH]: %q", one), Where: where, Err: err,
				Hint: "name a registry and its mirror, like docker.io=mirror.example.com:5000/hub", Code: report.UsageCode,
			}
		}
		mirrors[registry] = mirror
	}
	return mirrors, nil
}

func parseMirror(text string) (registry, mirror string, err error) {
	of, mirror, _ := strings.Cut(text, "=")
	mirror = strings.TrimSuffix(mirror, "/")
	canonical, err := parseHost(of)
	if err != nil {
		return "", "", err
	}
	at, path, below := strings.Cut(mirror, "/")
	if _, err := parseHost(at); err != nil {
		return "", "", err
	}
	if below && !repository().MatchString(path) {
		return "", "", errRepository
	}
	return canonical.RegistryStr(), mirror, nil
}

// parseHost reads a registry's address.
func parseHost(text string) (name.Registry, error) {
	if host().FindStringSubmatch(text) == nil {
		return name.Registry{}, errRegistry
	}
	return name.NewRegistry(text)
}

// And are the mirrors together with others, which come first.
func (m Mirrors) And(others Mirrors) Mirrors {
	all := maps.Clone(m)
	maps.Copy(all, others)
	return all
}

// Hosts are the addresses of the mirrors, host or host:port, in any order.
func (m Mirrors) Hosts() []string {
	var hosts []string
	for _, mirror := range m {
		at, _, _ := strings.Cut(mirror, "/")
		hosts = append(hosts, at)
	}
	return hosts
}

// Of is where an image is asked for: at the mirror of its registry, or as its name says.
func (m Mirrors) Of(ref name.Reference) (name.Reference, error) {
	mirror, ok := m[ref.Context().RegistryStr()]
	if !ok {
		return ref, nil
	}
	at, path, _ := strings.Cut(mirror, "/")
	registry, err := name.NewRegistry(at)
	if err != nil {
		return nil, fmt.Errorf("mirror %s: %w", mirror, err)
	}
	below := registry.Repo(strings.TrimPrefix(path+"/"+ref.Context().RepositoryStr(), "/"))
	if digest, ok := ref.(name.Digest); ok {
		return below.Digest(digest.DigestStr()), nil
	}
	return below.Tag(ref.Identifier()), nil
}

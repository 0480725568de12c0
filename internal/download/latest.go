package download

import (
	"context"
	"net/url"

	"github.com/slipway-dev/slipway/internal/release"
)

// Newest asks which release is the newest one. The answer is that of its signed checksums, which name its archives; so
// a server can hold a newer release back, and cannot make one up.
func (s *Source) Newest(ctx context.Context) (version string, err error) {
	folder := s.newest()
	sums, err := s.sums(ctx, folder)
	if err != nil {
		return "", err
	}
	version, err = sums.Version()
	if err != nil {
		return "", refusal(folder.JoinPath(release.SumsName), err)
	}
	return version, nil
}

// newest is the address of the newest release's folder.
func (s *Source) newest() *url.URL {
	if s.base.String() == release.Base {
		if u, err := url.Parse(release.Latest); err == nil {
			return u
		}
	}
	return s.base.JoinPath(release.LatestFolder)
}

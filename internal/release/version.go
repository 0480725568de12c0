package release

import (
	"errors"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// IsVersion reports whether a version of the module is that of a release: not a commit, and not a tree with changes.
func IsVersion(version string) bool {
	return semver.IsValid(version) && semver.Build(version) == "" && !module.IsPseudoVersion(version)
}

// ErrNoVersion is that checksums name no release.
var ErrNoVersion = errors.New("the checksums name no archive of a release")

// Version is the release that the checksums are of, by the names of its archives.
func (s Sums) Version() (string, error) {
	for _, platform := range Platforms() {
		for name := range s {
			rest, ok := strings.CutPrefix(name, "slipway_")
			if !ok {
				continue
			}
			version, _, _ := strings.Cut(rest, "_")
			if IsVersion(version) && name == Archive(version, platform[0], platform[1]) {
				return version, nil
			}
		}
	}
	return "", ErrNoVersion
}

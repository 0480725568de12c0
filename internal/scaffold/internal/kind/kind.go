// Package kind knows what scaffolded code needs to know of one kind: whose it is, what Go code calls it, how
// a scheme is reported of it, how a test makes an object of it, and which of its versions is stored.
package kind

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/project"
)

// CheckNames refuses names of a kind that Kubernetes or Go would refuse.
func CheckNames(group, version, kind, plural string) error {
	for _, err := range []error{project.ValidateGroup(group), project.ValidateVersion(version), project.ValidateKind(kind), project.ValidatePlural(plural)} {
		if err != nil {
			return projectfile.InvalidName(err)
		}
	}
	return nil
}

// Foreign reports whether the types are defined elsewhere.
func Foreign(r project.Resource) bool { return r.Core || r.External }

// PathToRoot is the way from a folder of the project to the project's own, as arguments of filepath.Join.
func PathToRoot(dir string) string {
	return strings.Repeat(`"..", `, strings.Count(path.Clean(dir), "/")) + `".."`
}

// Nearest is the resource whose kind or whose group is nearly this one, or nil. One of another version is not meant by
// a mistake in either.
func Nearest(there []project.Resource, group, version, kind string) *project.Resource {
	const mayDiffer = 2
	best, distance := (*project.Resource)(nil), mayDiffer+1
	for _, r := range there {
		d := spelling.Distance(strings.ToLower(kind), strings.ToLower(r.Kind), mayDiffer)
		if r.Kind == kind {
			d = spelling.Distance(group, r.Group, mayDiffer)
		}
		if d < distance && (r.Kind == kind) != (r.Group == group) && r.Version == version {
			best, distance = &r, d
		}
	}
	return best
}

// NearestGroup is the group of Kubernetes whose name is nearly this one, and not this one, or "".
func NearestGroup(group string) string {
	best, distance := "", 2
	for _, core := range project.CoreGroups() {
		if d := spelling.Distance(group, core, distance); d > 0 && d < distance {
			best, distance = core, d
		}
	}
	return best
}

// Package kind knows what scaffolded code needs to know of one kind: whose it is, what Go code calls it, how
// a scheme is reported of it, how a test makes an object of it, and which of its versions is stored.
package kind

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
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

// CheckBuiltin refuses a new kind of Kubernetes that there is not; see [codebase.Versions.CheckBuiltin]. It leaves to
// the user what is not known.
func CheckBuiltin(p *plan.Plan, r project.Resource, recorded *project.Resource, again func(project.Resource) string) error {
	if recorded != nil || !r.Core {
		return nil
	}
	unknown, err := p.Code().Versions().CheckBuiltin(r, again)
	if unknown != "" {
		p.Leave(unknown)
	}
	return err
}

// PathToRoot is the way from a folder of the project to the project's own, as arguments of filepath.Join.
func PathToRoot(dir string) string {
	return strings.Repeat(`"..", `, strings.Count(path.Clean(dir), "/")) + `".."`
}

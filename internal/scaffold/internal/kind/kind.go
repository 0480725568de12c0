// Package kind knows what scaffolded code needs to know of one kind: whose it is, what Go code calls it, how
// a scheme is reported of it, how a test makes an object of it, and which of its versions is stored.
package kind

import (
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

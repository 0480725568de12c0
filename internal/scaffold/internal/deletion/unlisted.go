package deletion

import (
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// undoVersion takes a version of a kind out of a project; before and file are what PROJECT has before and then. What
// the version shares with kinds that only the code has stays: with other versions of the kind its definition and roles,
// with other kinds of the version the package and its registration.
func undoVersion(p *plan.Plan, before, file *project.Project, gone project.Resource, d Options, part *plan.Needs) error {
	all := copyOf(file)
	if gone.API != nil {
		unlisted, err := projectfile.Unlisted(p, before)
		if err != nil {
			return err
		}
		for _, r := range unlisted {
			if r.Group == gone.Group && (r.Version == gone.Version) != (r.Kind == gone.Kind) {
				all.Resources = append(all.Resources, r)
			}
		}
	}
	return undoRest(p, all, d, part)
}

package deletion

import (
	"path"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// undoVersion takes a version of a kind out of a project; file is what PROJECT has then.
func undoVersion(p *plan.Plan, file *project.Project, gone project.Resource, d Options, part *plan.Needs) error {
	staying, err := withUnlisted(p, file, gone)
	if err != nil {
		return err
	}
	return undoRest(p, staying, d, part)
}

// withUnlisted is the project with the other versions of a kind that its code has and PROJECT does not list: what they
// share with the version that goes, such as the kind's definition and its roles, stays.
func withUnlisted(p *plan.Plan, file *project.Project, gone project.Resource) (*project.Project, error) {
	if gone.API == nil {
		return file, nil
	}
	found, err := projectfile.Declarations(p, file, gone)
	if err != nil {
		return nil, err
	}
	all := copyOf(file)
	for _, d := range found {
		if d.Version == gone.Version || d.Version == "" || all.Lookup(gone.Group, d.Version, gone.Kind) != nil {
			continue
		}
		version := gone
		version.Version, version.Controller, version.Controllers, version.Webhooks = d.Version, false, nil, nil
		if version.Path, err = gomod.ImportPath(p.Root(), file.Repo, path.Dir(d.File)); err != nil {
			return nil, err
		}
		all.Resources = append(all.Resources, version)
	}
	return all, nil
}

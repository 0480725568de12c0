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

// withUnlisted is the project with what its code has and PROJECT does not list: the other versions of a kind, and
// another kind of the version. What they share with the one that goes stays, such as the kind's definition and roles,
// or the package and its registration.
func withUnlisted(p *plan.Plan, file *project.Project, gone project.Resource) (*project.Project, error) {
	if gone.API == nil {
		return file, nil
	}
	found, err := projectfile.Declarations(p, file, gone)
	if err != nil {
		return nil, err
	}
	all := copyOf(file)
	if others := projectfile.Neighbours(p, file, gone); len(others) > 0 && all.Lookup(gone.Group, gone.Version, others[0]) == nil {
		other := codeOnly(gone)
		other.Kind, other.Plural = others[0], ""
		all.Resources = append(all.Resources, other)
	}
	for _, d := range found {
		if d.Version == gone.Version || d.Version == "" || all.Lookup(gone.Group, d.Version, gone.Kind) != nil {
			continue
		}
		version := codeOnly(gone)
		version.Version = d.Version
		if version.Path, err = gomod.ImportPath(p.Root(), file.Repo, path.Dir(d.File)); err != nil {
			return nil, err
		}
		all.Resources = append(all.Resources, version)
	}
	return all, nil
}

// codeOnly is a kind without its controllers and webhooks.
func codeOnly(r project.Resource) project.Resource {
	r.Controller, r.Controllers, r.Webhooks = false, nil, nil
	return r
}

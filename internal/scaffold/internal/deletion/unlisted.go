package deletion

import (
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
	if other := neighbour(p, file, gone); other != "" && all.Lookup(gone.Group, gone.Version, other) == nil {
		beside := codeOnly(gone)
		beside.Kind, beside.Plural = other, ""
		all.Resources = append(all.Resources, beside)
	}
	for _, k := range found {
		if k.Package.Version == gone.Version || all.Lookup(gone.Group, k.Package.Version, gone.Kind) != nil {
			continue
		}
		version := codeOnly(gone)
		version.Version = k.Package.Version
		if version.Path, err = gomod.ImportPath(p.Root(), file.Repo, k.Package.Dir); err != nil {
			return nil, err
		}
		all.Resources = append(all.Resources, version)
	}
	return all, nil
}

// neighbour is a kind that the code has in the package of r's types besides r, or "".
func neighbour(p *plan.Plan, file *project.Project, r project.Resource) string {
	if !file.Own(r) {
		return ""
	}
	for _, k := range p.Code().Package(file.APIDir(r)).Kinds {
		if k.Name != r.Kind {
			return k.Name
		}
	}
	return ""
}

// codeOnly is a kind without its controllers and webhooks.
func codeOnly(r project.Resource) project.Resource {
	r.Controller, r.Controllers, r.Webhooks = false, nil, nil
	return r
}

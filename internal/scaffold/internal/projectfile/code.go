package projectfile

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Groups lists the groups of kinds that the project's code defines for an API server, in the order of PROJECT. A kind
// that is no object, such as that of the manager's configuration file, is none of them.
func Groups(p *plan.Plan, file *project.Project) []string {
	var groups []string
	for _, r := range file.Resources {
		if file.Own(r) && !slices.Contains(groups, r.Group) && served(p, file, r) {
			groups = append(groups, r.Group)
		}
	}
	return groups
}

// served reports whether a kind's type is an object, or may become one: its package has kinds, or markers of them.
func served(p *plan.Plan, file *project.Project, r project.Resource) bool {
	of := p.Code().Package(file.APIDir(r))
	return of.Dir != "" && !slices.Contains(of.Structs, r.Kind)
}

// Declarations are all versions of a kind in the project's code, by what their packages say of group and version. A CRD
// is made of all of them, whether PROJECT lists them or not.
func Declarations(p *plan.Plan, file *project.Project, r project.Resource) ([]codebase.Kind, error) {
	groups := GroupsOf(file, r)
	var found []codebase.Kind
	kinds, err := p.Code().Kinds()
	for _, k := range kinds {
		if k.Name == r.Kind && slices.Contains(groups, k.Package.Group) {
			found = append(found, k)
		}
	}
	return found, err
}

// Unlisted are the kinds that only the project's code has, as PROJECT would list them, but for their controllers and
// webhooks. A kind in a group of the project's has the names that PROJECT has of it.
func Unlisted(p *plan.Plan, file *project.Project) (all []project.Resource, err error) {
	kinds, err := p.Code().Kinds()
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		if k.Entry != nil || project.ValidateVersion(k.Package.Version) != nil {
			continue
		}
		r := project.Resource{
			Group: strings.TrimSuffix(k.Package.Group, "."+file.Domain), Version: k.Package.Version, Kind: k.Name, Domain: file.Domain,
			Plural: k.Plural, API: &project.API{CRDVersion: "v1", Namespaced: !k.Cluster},
		}
		for _, o := range file.Resources {
			if file.Own(o) && (o.QualifiedGroup() == k.Package.Group || file.APIDir(o) == k.Package.Dir) {
				r.Group, r.Domain = o.Group, o.Domain
			}
		}
		if r.Group == "" && k.Package.Group == "" {
			continue // the generators make nothing of it
		}
		r = r.InAPIGroup(k.Package.Group)
		r.Path = p.Code().ImportPath(file.Repo, k.Package.Dir)
		all = append(all, r)
	}
	return all, nil
}

// TypesFile is the file of the types of a kind in PROJECT: the one of its folder in which the code declares them, else
// the usual one.
func TypesFile(p *plan.Plan, file *project.Project, r project.Resource) string {
	usual := file.TypesFile(r)
	if k := p.Code().KindIn(path.Dir(usual), r.Kind); k != nil && file.Own(r) {
		return k.File
	}
	return usual
}

// GroupsOf are the API groups that r's may be: the one of its names, and those in the code of others of its group.
func GroupsOf(file *project.Project, r project.Resource) []string {
	groups := []string{r.QualifiedGroup()}
	for _, o := range file.Resources {
		if o.Group == r.Group && file.Own(o) {
			groups = append(groups, o.QualifiedGroup())
		}
	}
	return slices.DeleteFunc(groups, func(group string) bool { return group == "" })
}

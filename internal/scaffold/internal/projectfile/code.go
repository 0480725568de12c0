package projectfile

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Groups lists the groups whose kinds the project defines for an API server, in the order of PROJECT. A kind that is no
// object, such as the manager's configuration file, does not count.
func Groups(p *plan.Plan, file *project.Project) []string {
	var groups []string
	for _, r := range file.Resources {
		if file.Own(r) && !slices.Contains(groups, r.Group) && served(p, file, r) {
			groups = append(groups, r.Group)
		}
	}
	return groups
}

// served reports whether a kind's type is an object, or may become one because its package has kinds or markers.
func served(p *plan.Plan, file *project.Project, r project.Resource) bool {
	of := p.Code().Package(file.APIDir(r))
	return of.Dir != "" && !slices.Contains(of.Structs, r.Kind)
}

// Declarations returns all versions of a kind in the project's code, by the group and version of their packages. The
// CRD has all of them, whether PROJECT lists them or not.
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

// Unlisted returns the kinds that the code has and PROJECT does not, as PROJECT would list them, without controllers
// and webhooks. A kind of a listed group gets that group's name and domain.
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
			continue // no generator generates anything from it
		}
		r = r.InAPIGroup(k.Package.Group)
		r.Path = p.Code().ImportPath(file.Repo, k.Package.Dir)
		all = append(all, r)
	}
	return all, nil
}

// TypesFile returns the file in which the code declares a kind of PROJECT, or else the layout's file.
func TypesFile(p *plan.Plan, file *project.Project, r project.Resource) string {
	usual := file.TypesFile(r)
	if k := p.Code().KindIn(path.Dir(usual), r.Kind); k != nil && file.Own(r) {
		return k.File
	}
	return usual
}

// GroupsOf returns the API groups that r may have: by its names, and by the code of kinds with the same group in
// PROJECT.
func GroupsOf(file *project.Project, r project.Resource) []string {
	groups := []string{r.QualifiedGroup()}
	for _, o := range file.Resources {
		if o.Group == r.Group && file.Own(o) {
			groups = append(groups, o.QualifiedGroup())
		}
	}
	return slices.DeleteFunc(groups, func(group string) bool { return group == "" })
}

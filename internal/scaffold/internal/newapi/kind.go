package newapi

import (
	"cmp"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// kind returns the kind with its origin: recorded in PROJECT, of another module, of Kubernetes if no types are
// requested, or new.
func (o Options) kind(file *project.Project) (project.Resource, error) {
	r := project.Resource{Domain: file.Domain}
	recorded := file.Lookup(o.Group, o.Version, o.Kind)
	domain, core := project.CoreDomain(o.Group)
	switch {
	case recorded != nil:
		r = project.Resource{Domain: recorded.Domain, Plural: recorded.Plural, Path: recorded.Path, Core: recorded.Core, External: recorded.External, Module: recorded.Module, APIGroup: recorded.APIGroup}
	case o.External.Path != "":
		r = project.Resource{Domain: o.External.Domain, External: true, Path: o.External.Path, Module: o.External.Module}
	case core && !o.Resource && !slices.Contains(file.Groups(), o.Group):
		r = project.Resource{Domain: domain, Core: true, Path: project.CorePath(o.Group, o.Version)}
	}
	r.Group, r.Version, r.Kind, r.Plural = o.Group, o.Version, o.Kind, cmp.Or(o.Plural, r.Plural)
	if err := r.Validate(); err != nil {
		return r, projectfile.InvalidName(err)
	}
	if !r.HasOwnPlural() {
		r.Plural = ""
	}
	return r, nil
}

// check refuses options that exclude each other for the kind r.
func (o Options) check(r project.Resource) error {
	for _, c := range []struct {
		wrong            bool
		flag, what, hint string
	}{
		{o.ControllerName != "" && !o.Controller, "--controller-name", "no controller is created that could have this name", "create it: --controller"},
		{o.SSA && (r.Core || r.External), "--ssa", "apply configurations are generated only for the project's own types", "the module of the types has those of other types"},
		{o.Image.Name != "" && (!o.Resource || !o.Controller), "--image", "the controller of an image needs its own types", "create both: --resource --controller"},
		{o.Image.Name != "" && !o.Namespaced, "--image", "the controller of an image creates a Deployment in the object's namespace, but these objects have no namespace", "leave out --namespaced=false"},
		{o.Image.Name != "" && o.SSA, "--ssa", "the controller of an image does not use apply configurations", "leave out one of --ssa and --image"},
	} {
		if c.wrong {
			return &report.Error{What: c.what, Where: c.flag, Hint: c.hint}
		}
	}
	return nil
}

// markerNamespace is the end of permission markers, in projects whose markers name a namespace.
func (a *planner) markerNamespace() string {
	byMarkers, err := manager.RolesByMarkers(a.Plan)
	if err != nil || !byMarkers || !a.project.Namespaced {
		return ""
	}
	return ",namespace=" + a.project.Name + "-system"
}

// planModules adds to go.mod the modules that the types and the controller import.
func (a *planner) planModules() error {
	var more []string
	switch {
	case a.resource.External && !a.Recording():
		more = []string{"k8s.io/apiextensions-apiserver"}
	case a.options.Image.Name != "":
		more = []string{"k8s.io/api", "k8s.io/utils"}
	}
	return gomod.UseTypes(a.Plan, a.resource, more...)
}

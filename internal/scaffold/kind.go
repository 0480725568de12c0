package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// An External says where the Go types of another module are.
type External struct {
	Path   string // import path
	Domain string // of the group
	Module string // the module, with its version
}

// check refuses paths that Go would refuse later.
func (e External) check() error {
	if e.Path == "" {
		if e.Domain != "" || e.Module != "" {
			return &report.Error{What: "the import path of the types is missing", Where: "--external-api-path", Hint: "such as github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"}
		}
		return nil
	}
	if err := module.CheckImportPath(e.Path); err != nil {
		return &report.Error{What: "the import path of the types cannot be one", Where: "--external-api-path " + e.Path, Err: err}
	}
	name, version, ok := strings.Cut(e.Module, "@")
	if e.Module == "" {
		return nil
	}
	if err := module.CheckPath(name); err != nil || ok && version == "" {
		return &report.Error{What: "the module of the types cannot be one", Where: "--external-api-module " + e.Module, Hint: "expected a module and its version, such as github.com/cert-manager/cert-manager@v1.18.2", Err: err}
	}
	if e.Path != name && !strings.HasPrefix(e.Path, name+"/") {
		return &report.Error{What: "the types are not in that module", Where: "--external-api-module " + e.Module, Hint: e.Path + " does not begin with " + name}
	}
	return nil
}

// kind finds whose the kind is: the project's own, recorded or new; another module's; or,
// when no types are to be created, one of Kubernetes.
func (o API) kind(file *project.Project) (project.Resource, error) {
	r := project.Resource{Domain: file.Domain}
	recorded := file.Lookup(o.Group, o.Version, o.Kind)
	domain, core := project.CoreDomain(o.Group)
	switch {
	case recorded != nil:
		r = project.Resource{Domain: recorded.Domain, Plural: recorded.Plural, Path: recorded.Path, Core: recorded.Core, External: recorded.External, Module: recorded.Module}
	case o.External.Path != "":
		r = project.Resource{Domain: o.External.Domain, External: true, Path: o.External.Path, Module: o.External.Module}
	case core && !o.Resource && !slices.Contains(file.Groups(), o.Group):
		r = project.Resource{Domain: domain, Core: true, Path: project.CorePath(o.Group, o.Version)}
	}
	r.Group, r.Version, r.Kind, r.Plural = o.Group, o.Version, o.Kind, orElse(o.Plural, r.Plural)
	if err := r.Validate(); err != nil {
		return r, invalidName(err)
	}
	if !r.HasOwnPlural() {
		r.Plural = ""
	}
	return r, nil
}

// check refuses what does not go together, for the kind r.
func (o API) check(r project.Resource) error {
	for _, c := range []struct {
		wrong            bool
		flag, what, hint string
	}{
		{o.ControllerName != "" && !o.Controller, "--controller-name", "there is no controller to give the name to", "create it: --controller"},
		{o.SSA && (r.Core || r.External), "--ssa", "apply configurations are generated for the project's own types", "those of other types are where the types come from"},
		{o.Image.Name != "" && !(o.Resource && o.Controller), "--image", "the controller of an image needs types of its own", "create both: --resource --controller"},
		{o.Image.Name != "" && !o.Namespaced, "--image", "the controller of an image has a Deployment in the object's namespace, and these objects have none", "leave out --namespaced=false"},
		{o.Image.Name != "" && o.SSA, "--ssa", "the controller of an image has no use for apply configurations", "leave out one of --ssa and --image"},
	} {
		if c.wrong {
			return &report.Error{What: c.what, Where: c.flag, Hint: c.hint}
		}
	}
	return nil
}

// foreign reports whether the types are defined elsewhere.
func (a *apiPlan) foreign() bool { return a.resource.Core || a.resource.External }

// registers reports whether a scheme must be told of the types: client-go's knows most of
// Kubernetes' own.
func (a *apiPlan) registers() bool {
	return !a.resource.Core || a.resource.Group == "apiextensions"
}

// markerGroup is the group as permission markers have it.
func (a *apiPlan) markerGroup() string {
	if group := a.resource.QualifiedGroup(); group != "" {
		return group
	}
	return `""`
}

// markerNamespace ends permission markers in projects whose markers name a namespace.
func (a *apiPlan) markerNamespace() string {
	byMarkers, err := a.rolesByMarkers()
	if err != nil || !byMarkers || !a.project.Namespaced {
		return ""
	}
	return ",namespace=" + a.project.Name + "-system"
}

// planModules has go.mod say that the project's code imports packages of modules that it
// requires already, and refuses an external type of a module that it does not.
func (a *apiPlan) planModules() error {
	var modules []string
	switch {
	case a.resource.Core && a.resource.Group == "apiextensions":
		modules = []string{"k8s.io/apiextensions-apiserver"}
	case a.resource.Core:
		modules = []string{"k8s.io/api"}
	case a.options.Image.Name != "":
		modules = []string{"k8s.io/api", "k8s.io/utils"}
	}
	if a.resource.External && a.needs == nil {
		name, err := a.moduleOf(a.resource.Path)
		if err != nil {
			return err
		}
		modules = append(modules, name, "k8s.io/apiextensions-apiserver")
	}
	for _, name := range modules {
		if err := a.put("go.mod", these(directUse{name})); err != nil {
			return err
		}
	}
	return nil
}

// moduleOf is the module in go.mod that holds a package.
func (a *apiPlan) moduleOf(pkg string) (string, error) {
	mod, err := readGoMod(a.root)
	if err != nil || mod == nil {
		return "", err
	}
	longest := ""
	for _, r := range mod.file.Require {
		if (pkg == r.Mod.Path || strings.HasPrefix(pkg, r.Mod.Path+"/")) && len(r.Mod.Path) > len(longest) {
			longest = r.Mod.Path
		}
	}
	if longest != "" {
		return longest, nil
	}
	return "", &report.Error{
		What: fmt.Sprintf("no module that go.mod requires has the package %s", pkg), Where: "go.mod",
		Hint: "say which one with --external-api-module, such as github.com/cert-manager/cert-manager@v1.18.2; nothing was changed",
		Next: "go get " + pkg,
	}
}

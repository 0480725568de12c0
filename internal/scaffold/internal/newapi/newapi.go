// Package newapi plans what `create api` makes: types and the configuration of their CRD, a controller with its tests,
// and its lines in the manager's code. [Create] plans an API. [Record] records what a project has of one, for undoing.
package newapi

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// Options are the flags of `create api`.
type Options struct {
	Group, Version, Kind string
	Plural               string // default: derived by English rules
	Resource             bool   // create the Go types, and with them the CRD
	Controller           bool
	Namespaced           bool          // scope of the objects
	ControllerName       string        // for a controller beside the kind's first one
	SSA                  bool          // generate typed apply configurations, which the controller uses
	External             kind.External // the types' place in another module
	Image                Image         // the container that the controller runs; the zero value for a controller without logic
	HasSample            bool          // the project has a sample of this version already
	SkipWiring           bool          // leave the manager's code to the user
	Manager              string        // folder of the manager's main package, if there are several
	Untested             string        // why the controller's test would not compile; "" if it does
}

// Create plans an API. It keeps all existing files and adds what is missing.
func Create(folder *fileview.Folder, o Options) (*plan.Plan, error) {
	p, file, err := projectfile.Open(folder)
	if err != nil {
		return nil, err
	}
	return p, Add(p, file, o)
}

// Add is [Create] in a plan that may have changed the project already.
func Add(p *plan.Plan, file *project.Project, o Options) error {
	a, err := newPlanner(p, file, o)
	if err != nil {
		return err
	}
	return a.plan()
}

// Check returns those refusals of [Create] that precede planning.
func Check(folder *fileview.Folder, o Options) error {
	p, file, err := projectfile.Open(folder)
	if err == nil {
		_, err = newPlanner(p, file, o)
	}
	return err
}

func newPlanner(p *plan.Plan, file *project.Project, o Options) (*planner, error) {
	if err := p.Code().Choose(o.Manager); err != nil {
		return nil, err
	}
	r, err := o.kind(file)
	if err != nil {
		return nil, err
	}
	if r.Path == "" {
		dir, err := TypesDir(p, file, r)
		if err != nil {
			return nil, err
		}
		r.Path = p.Code().ImportPath(file.Repo, dir)
	}
	if !kind.Foreign(r) {
		r = inExistingGroup(p, file, r)
	}
	a := &planner{Plan: p, project: file, options: o, resource: r}
	if a.generation, err = p.Code().Generation(); err != nil {
		return nil, err
	}
	a.types = a.typesFile()
	a.versions = p.Code().Versions()
	return a, a.check()
}

// typesFile returns the file of the kind's types. The code may have types that PROJECT does not list.
func (a *planner) typesFile() string {
	r := a.resource
	if recorded := a.project.Lookup(r.Group, r.Version, r.Kind); recorded != nil {
		r = *recorded
	} else if !kind.Foreign(r) {
		r.API = &project.API{}
	}
	return projectfile.TypesFile(a.Plan, a.project, r)
}

// Check refuses invalid names without reading the project.
func (o Options) Check() error {
	if err := kind.CheckNames(o.Group, o.Version, o.Kind, o.Plural); err != nil {
		return err
	}
	if err := project.ValidateController(o.ControllerName); err != nil {
		return projectfile.InvalidName(err)
	}
	return errors.Join(o.External.Check(), o.Image.check())
}

// A planner plans one API.
type planner struct {
	*plan.Plan
	project    *project.Project
	options    Options
	resource   project.Resource
	recorded   *project.Resource // the kind's entry in PROJECT, or nil
	types      string            // the file of the types, which may have a name of the authors' own
	theirs     string            // the authors' controller outside of the layout's file, or ""
	header     string
	versions   codebase.Versions
	generation codebase.Generation

	registration codebase.Registration // of the types' package; see planTypes
}

// check completes the plan's facts and refuses what cannot be planned.
func (a *planner) check() error {
	if a.recorded = a.project.Lookup(a.resource.Group, a.resource.Version, a.resource.Kind); a.recorded != nil {
		a.resource.Plural = ""
		if a.recorded.HasOwnPlural() {
			a.resource.Plural = a.recorded.Plural
		}
	} else {
		a.adoptFromTypes()
		if err := a.adoptFromVersions(); err != nil {
			return err
		}
	}
	for _, check := range []func() error{a.checkBuiltin, a.checkWanted, a.checkVersions, a.checkGroup, a.checkFiles, a.checkController, a.checkControlled, a.findExistingController} {
		if err := check(); err != nil {
			return err
		}
	}
	var err error
	a.header, err = header.Read(a.Plan)
	return err
}

// adoptFromTypes takes the scope of existing types and, unless a flag sets it, their plural.
func (a *planner) adoptFromTypes() {
	if k := a.Code().KindIn(path.Dir(a.types), a.resource.Kind); k != nil && !kind.Foreign(a.resource) {
		a.options.Namespaced = a.options.Namespaced && !k.Cluster
		a.resource.Plural = cmp.Or(a.resource.Plural, k.Plural)
	}
}

// adoptFromVersions takes plural and scope of the kind's other versions: one CRD serves all versions, and has one of
// each.
func (a *planner) adoptFromVersions() error {
	for _, r := range a.project.Resources {
		if r.API == nil || r.Group != a.resource.Group || r.Kind != a.resource.Kind {
			continue
		}
		if a.options.Plural != "" && a.options.Plural != r.PluralName() {
			return &report.Error{
				What:  fmt.Sprintf("version %s of %s has the plural %s, and all versions of a kind must have the same", r.Version, r.Kind, r.PluralName()),
				Where: "--plural " + a.options.Plural, Hint: "leave it out; nothing was changed",
			}
		}
		a.resource.Plural = ""
		if r.HasOwnPlural() {
			a.resource.Plural = r.Plural
		}
		a.options.Namespaced = r.API.Namespaced
		return nil
	}
	return nil
}

// checkWanted refuses a call that creates nothing, and a controller for types that do not exist.
func (a *planner) checkWanted() error {
	switch {
	case !a.options.Resource && !a.options.Controller:
		return &report.Error{What: "no part of the kind is selected", Where: "--resource, --controller", Hint: "add one of them, or both"}
	case kind.Foreign(a.resource) && a.options.Resource:
		return &report.Error{
			What: fmt.Sprintf("the types of %s %s belong to another module", a.resource.APIVersion(), a.resource.Kind), Where: "--resource",
			Hint: "this project can only have a controller for them", Next: a.command("--resource=false --controller"),
		}
	case !a.options.Resource && !kind.Foreign(a.resource) && (a.recorded == nil || a.recorded.API == nil):
		return &report.Error{
			What: fmt.Sprintf("the project has no %s %s to control", a.resource.APIVersion(), a.resource.Kind), Where: "--resource=false",
			Hint: "create its types, too; for a kind of another module add --external-api-path, for one of Kubernetes use its group, such as core or apps",
			Next: a.command("--resource --controller"),
		}
	}
	return a.options.check(a.resource)
}

// checkBuiltin refuses a kind that Kubernetes does not have.
func (a *planner) checkBuiltin() error {
	return kind.CheckBuiltin(a.Plan, a.resource, a.recorded, func(of project.Resource) string {
		return (&planner{resource: of}).command("--resource=false --controller")
	})
}

// command is the call that creates this API with other flags.
func (a *planner) command(flags string) string {
	return fmt.Sprintf("slipway create api --group %s --version %s --kind %s %s", shellword.Quote(a.resource.Group), a.resource.Version, a.resource.Kind, flags)
}

// checkGroup refuses a second group in a layout for one group.
func (a *planner) checkGroup() error {
	if a.project.MultiGroup || kind.Foreign(a.resource) {
		return nil
	}
	for _, group := range projectfile.Groups(a.Plan, a.project) {
		if group != a.resource.Group && a.sameGroupName(group) {
			return &report.Error{
				What:  fmt.Sprintf("PROJECT names this API group %q", group),
				Where: "--group " + a.resource.Group,
				Hint:  "both names mean " + a.resource.QualifiedGroup() + "; use the name in PROJECT; nothing was changed",
				Next: strings.ReplaceAll(fmt.Sprintf("slipway create api --group %s --version %s --kind %s --resource=%t --controller=%t", shellword.Quote(group),
					a.resource.Version, a.resource.Kind, a.options.Resource, a.options.Controller), "=true", ""),
			}
		}
		if group != a.resource.Group {
			return &report.Error{
				What:  fmt.Sprintf("the project has APIs of the group %q, and its layout holds one group", group),
				Where: "--group " + a.resource.Group,
				Hint:  "use that group, or change the layout",
				Next:  "slipway edit --multigroup",
			}
		}
	}
	return nil
}

// sameGroupName reports whether a group in PROJECT is the new kind's, with or without the domain.
func (a *planner) sameGroupName(group string) bool {
	domain := "." + a.project.Domain
	return strings.TrimSuffix(group, domain) == strings.TrimSuffix(a.resource.Group, domain)
}

// checkFiles refuses existing files that do not declare the expected type.
func (a *planner) checkFiles() error {
	for _, f := range []struct {
		wanted     bool
		file, name string
	}{
		{a.options.Resource, a.types, a.resource.Kind},
		{a.options.Controller, a.controllerFile(), a.reconciler()},
	} {
		c, err := a.Find(f.file)
		if err != nil {
			return err
		}
		if f.wanted && c.OnDisk() && !regexp.MustCompile(`(?m)^\s*(type\s+)?`+f.name+`\s+struct\b`).Match(c.Before()) {
			return &report.Error{
				Class: report.Conflict,
				What:  fmt.Sprintf("the file exists but does not declare the type %s", f.name),
				Where: f.file,
				Hint:  "move it away, or declare the type in it; nothing was changed",
			}
		}
	}
	return nil
}

// checkVersions refuses what the project's controller-runtime, or its PROJECT version, does not support.
func (a *planner) checkVersions() error {
	if err := a.checkV2(); err != nil {
		return err
	}
	if a.options.Controller {
		if err := a.versions.CheckControllers(); err != nil {
			return err
		}
	}
	switch {
	case a.options.SSA:
		return a.versions.CheckApply("--ssa")
	case a.options.Image.Name != "":
		return a.versions.CheckApply("--image")
	}
	return nil
}

// checkV2 refuses what version 2 of PROJECT cannot record: it has only group, version and kind.
func (a *planner) checkV2() error {
	what := ""
	switch {
	case a.resource.External:
		what = "kinds of other modules"
	case a.options.ControllerName != "":
		what = "additional controllers"
	case a.options.Image.Name != "":
		what = "the image of a controller"
	case a.options.SSA:
		what = "apply configurations"
	default:
		return nil
	}
	return projectfile.RefuseTerse(a.project, what)
}

package newapi

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// ControlsAnother reports whether the file of a kind's controller has a controller for another kind, so that PROJECT is
// wrong about it. It trusts files that slipway made.
func ControlsAnother(p *plan.Plan, file *project.Project, r project.Resource) (bool, error) {
	name := file.ControllerFile(r)
	if _, scaffolded := p.Base().File(name); scaffolded || !r.Controller {
		return false, nil
	}
	c, err := controllerIn(p, path.Dir(name), r.Kind+"Reconciler")
	return controlsAnother(p, file, r, c) != nil, err
}

// checkControlled refuses to take another kind's controller for the new kind's. A controller that PROJECT lists for the
// kind is accepted.
func (a *planner) checkControlled() error {
	if !a.options.Controller || a.recorded != nil && a.recordsController() {
		return nil
	}
	c, err := controllerIn(a.Plan, path.Dir(a.controllerFile()), a.reconciler())
	if err != nil {
		return err
	}
	return a.refuseAnother(c)
}

func (a *planner) refuseAnother(c codebase.Controller) error {
	other := controlsAnother(a.Plan, a.project, a.resource, c)
	if other == nil {
		return nil
	}
	of := other.Kind
	if other.Package != "" {
		of = other.Package + "." + of
	}
	flags := "--controller --controller-name " + strings.ReplaceAll(strings.Trim(a.resource.Group+"-"+strings.ToLower(a.resource.Kind), "-"), ".", "-")
	return &report.Error{
		Class: report.Conflict,
		What:  fmt.Sprintf("%s is the controller of %s, not of %s %s", a.reconciler(), of, a.resource.APIVersion(), a.resource.Kind),
		Where: other.Where(),
		Hint:  "nothing was changed; a controller with another name has a file and a type of its own, and --controller=false makes none",
		Next:  a.command(strings.TrimSuffix(fmt.Sprintf("--resource=%t", a.options.Resource), "=true") + " " + flags),
	}
}

// controllerIn returns the controller with this type in a package, or the zero value.
func controllerIn(p *plan.Plan, dir, reconciler string) (codebase.Controller, error) {
	all, err := p.Code().Controllers()
	for _, c := range all {
		if c.Dir == dir && c.Type == reconciler {
			return c, nil
		}
	}
	return codebase.Controller{}, err
}

// controlsAnother returns the type that a controller is for, if it is not a version of the kind. It returns nil if the
// code shows no type, or several of which one is the kind's.
func controlsAnother(p *plan.Plan, file *project.Project, r project.Resource, c codebase.Controller) *codebase.Controlled {
	if len(c.For) == 0 || slices.ContainsFunc(c.For, func(of codebase.Controlled) bool { return isVersionOf(p, file, r, of) }) {
		return nil
	}
	return &c.For[0]
}

// isVersionOf reports whether a type may be a version of the kind: it has the kind's name, in a package of its API
// group or beside one of its versions.
func isVersionOf(p *plan.Plan, file *project.Project, r project.Resource, c codebase.Controlled) bool {
	own := file.ImportPath(r)
	if c.Kind != r.Kind || c.Package == "" || path.Dir(c.Package) == path.Dir(own) {
		return c.Kind == r.Kind
	}
	dir, inside := strings.CutPrefix(c.Package, file.Repo+"/")
	if !inside {
		return false
	}
	group := p.Code().Package(dir).Group
	return group == "" || group == r.QualifiedGroup()
}

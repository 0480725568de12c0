package newapi

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// ControlsAnother reports whether the file where the layout has a kind's controller, and which slipway did not make,
// has that of another kind: PROJECT took one for the other.
func ControlsAnother(p *plan.Plan, file *project.Project, r project.Resource) bool {
	name := file.ControllerFile(r)
	if _, scaffolded := p.Base().File(name); scaffolded || !r.Controller {
		return false
	}
	_, another := controlsAnother(p, file, r, name, r.Kind+"Reconciler")
	return another
}

// checkControlled refuses to take another kind's controller for the new kind's. What PROJECT lists as the kind's is its
// authors' matter.
func (a *planner) checkControlled() error {
	if !a.options.Controller || a.recorded != nil && a.recordsController() {
		return nil
	}
	return a.refuseAnother(a.controllerFile())
}

// refuseAnother refuses if a file has the controller of another kind.
func (a *planner) refuseAnother(name string) error {
	other, is := controlsAnother(a.Plan, a.project, a.resource, name, a.reconciler())
	if !is {
		return nil
	}
	of := other.Kind
	if other.Package != "" {
		of = other.Package + "." + of
	}
	flags := "--controller --controller-name " + strings.ReplaceAll(strings.Trim(a.resource.Group+"-"+strings.ToLower(a.resource.Kind), "-"), ".", "-")
	return &report.Error{
		What:  fmt.Sprintf("%s is the controller of %s, not of %s %s", a.reconciler(), of, a.resource.APIVersion(), a.resource.Kind),
		Where: fmt.Sprintf("%s:%d", name, other.Line),
		Hint:  "nothing was changed; a controller with another name has a file and a type of its own, and --controller=false makes none",
		Next:  a.command(strings.TrimSuffix(fmt.Sprintf("--resource=%t", a.options.Resource), "=true") + " " + flags),
	}
}

// controlsAnother finds the type that a reconciler in a file is for, if that is no version of the kind. A file that
// says nothing of it, or both, has the kind's.
func controlsAnother(p *plan.Plan, file *project.Project, r project.Resource, name, reconciler string) (other gofile.Controlled, is bool) {
	src, err := finite.ReadFile(filepath.Join(p.Root(), filepath.FromSlash(name)))
	if err != nil {
		return other, false // what is not there controls nothing
	}
	for _, c := range gofile.ControlledBy(src, reconciler) {
		if isVersionOf(p, file, r, c) {
			return gofile.Controlled{}, false
		}
		if !is {
			other, is = c, true
		}
	}
	return other, is
}

// isVersionOf reports whether a type may be a version of a kind: it has the name, in the package of one of its versions
// or of its API group.
func isVersionOf(p *plan.Plan, file *project.Project, r project.Resource, c gofile.Controlled) bool {
	own := file.ImportPath(r)
	if c.Kind != r.Kind || c.Package == "" || path.Dir(c.Package) == path.Dir(own) {
		return c.Kind == r.Kind
	}
	dir, inside := strings.CutPrefix(c.Package, file.Repo+"/")
	if !inside {
		return false
	}
	group := p.APIGroup(dir)
	return group == "" || group == r.QualifiedGroup()
}

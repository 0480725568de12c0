package newapi

import "github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"

// checkVersions refuses what the project's controller-runtime, or the version of its PROJECT file, has no place for.
func (a *planner) checkVersions() error {
	if err := a.checkTerse(); err != nil {
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

// checkTerse refuses what version 2 of PROJECT cannot record: it has group, version and kind.
func (a *planner) checkTerse() error {
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

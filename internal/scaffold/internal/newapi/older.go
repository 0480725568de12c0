package newapi

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// checkVersions refuses what the project's controller-runtime, or the version of its PROJECT file, has no place for.
func (a *planner) checkVersions() error {
	if a.project.Terse() {
		if err := a.checkTerse(); err != nil {
			return err
		}
	}
	checks := []func() error{}
	if a.options.Controller {
		checks = append(checks, a.versions.CheckControllers)
	}
	if a.options.SSA {
		checks = append(checks, func() error { return a.versions.CheckApply("--ssa") })
	}
	if a.options.Image.Name != "" {
		checks = append(checks, func() error { return a.versions.CheckApply("--image") })
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
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
	return &report.Error{
		What:  fmt.Sprintf("PROJECT of version %s does not record %s", a.project.Version, what),
		Where: fmt.Sprintf("%s:%d", project.FileName, max(a.project.Line("version"), 1)),
		Hint:  "nothing was changed; version 3 records them, with a layout and the fields of each kind",
	}
}

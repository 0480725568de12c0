package newapi

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/project"
)

// findTheirs looks for a controller of the kind that its authors have elsewhere than in the layout's file: a second one
// would do its work again.
func (a *planner) findTheirs() error {
	if there, err := a.Exists(a.controllerFile()); err != nil || there || !a.options.Controller || a.ambiguous() {
		return err
	}
	all, err := a.Code().Controllers()
	for _, c := range all {
		another := controlsAnother(a.Plan, a.project, a.resource, c) != nil
		beside := c.Dir == path.Dir(a.controllerFile()) // in the same package there is no second one of that name
		switch {
		case c.Type != a.reconciler() || another && !beside:
		case beside:
			a.theirs = c.File
			return a.refuseAnother(c)
		case a.theirs == "":
			a.theirs = c.File
		}
	}
	return err
}

// ambiguous reports whether a reconciler of this name may be that of another kind, of the same name in another group.
func (a *planner) ambiguous() bool {
	return slices.ContainsFunc(a.project.Resources, func(r project.Resource) bool {
		return r.Kind == a.resource.Kind && r.Group != a.resource.Group
	})
}

// makesController reports whether the controller that is asked for is to be made, and not there as its authors have it.
func (a *planner) makesController() bool { return a.options.Controller && a.theirs == "" }

// keepTheirs says that the controller stays as its authors have it.
func (a *planner) keepTheirs() error {
	if a.theirs == "" {
		return nil
	}
	return a.Keep(a.theirs, "it existed already")
}

package newapi

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// findTheirs looks for a controller of the kind that its authors have elsewhere than in the layout's file: a second one
// would do its work again.
func (a *planner) findTheirs() error {
	if there, err := a.Exists(a.controllerFile()); err != nil || there || !a.options.Controller || a.ambiguous() {
		return err
	}
	err := projectfile.GoFiles(a.Root(), func(name string) {
		if a.theirs == "" && !strings.HasSuffix(name, "_test.go") && declares(a.Root(), name, a.reconciler()) && a.controls(name) {
			a.theirs = name
		}
	})
	if err != nil || a.theirs == "" {
		return err
	}
	return a.refuseAnother(a.theirs) // in the same package there is no second one of that name
}

// controls reports whether a reconciler of the kind's is one to keep or to refuse, and not that of another type
// elsewhere.
func (a *planner) controls(name string) bool {
	_, another := controlsAnother(a.Plan, a.project, a.resource, name, a.reconciler())
	return !another || path.Dir(name) == path.Dir(a.controllerFile())
}

// ambiguous reports whether a reconciler of this name may be that of another kind, of the same name in another group.
func (a *planner) ambiguous() bool {
	return slices.ContainsFunc(a.project.Resources, func(r project.Resource) bool {
		return r.Kind == a.resource.Kind && r.Group != a.resource.Group
	})
}

// declares reports whether a file declares a struct type. What cannot be read is reported by what builds it.
func declares(root, name, kind string) bool {
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && gofile.DeclaresStruct(data, kind)
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

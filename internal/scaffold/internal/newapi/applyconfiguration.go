package newapi

import (
	"cmp"
	"path"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// applyMarker enables apply configurations for the types of a package; clientMarker selects the types.
const (
	applyMarker  = "+kubebuilder:ac:generate=true"
	clientMarker = "+genclient"
)

// ssa reports whether the kind has apply configurations, from this call or an earlier one.
func (a *planner) ssa() bool {
	return a.options.SSA || a.recorded != nil && a.recorded.API != nil && a.recorded.API.SSA
}

// applyImport is the import path of the kind's apply configurations. They are generated below the types, in folders
// named like the last two of the types' path.
func (a *planner) applyImport() string {
	types := a.project.ImportPath(a.resource)
	return path.Join(types, "applyconfiguration", path.Base(path.Dir(types)), path.Base(types))
}

func (a *planner) planApplyMarkers() error {
	if err := a.Insert(cmp.Or(a.registration.File, a.project.GroupVersionFile(a.resource)), plan.These(piece.PackageMarker(applyMarker))); err != nil {
		return err
	}
	if err := a.Insert(a.types, plan.These(piece.TypeMarker{Kind: a.resource.Kind, Marker: clientMarker})); err != nil {
		return err
	}
	if there, err := a.Exists("Makefile"); err != nil || !there {
		return err
	}
	return a.Insert("Makefile", plan.These(piece.MakefileGenerator{Name: "applyconfiguration"}))
}

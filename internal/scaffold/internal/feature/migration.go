package feature

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// migrationFile has the names of the CRDs whose objects the manager migrates, and the permissions for that.
const migrationFile = "internal/manager/migration.go"

// MigrateKind adds a kind of the project to the storage migration, if the project has that feature.
func MigrateKind(p *plan.Plan, r project.Resource) error {
	if there, err := p.Exists(migrationFile); err != nil || !there {
		return err
	}
	pieces := migrationPieces(r)
	return p.InsertIfPlaced(migrationFile, plan.These(pieces...), piece.ByHand(pieces))
}

// planMigrated adds all kinds of the project.
func (p *planner) planMigrated() error {
	for _, r := range p.project.Resources {
		if !p.project.Own(r) {
			continue
		}
		if err := p.Insert(migrationFile, plan.These(migrationPieces(r)...)); err != nil {
			return err
		}
	}
	return nil
}

// migrationPieces are the same for all versions of a kind. They permit to read its CRD and to change the status, and to
// list and patch its objects.
func migrationPieces(r project.Resource) []plan.Piece {
	const definitions = "// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions"
	name := r.CRDName()
	permissions := fmt.Sprintf(definitions+",verbs=get,resourceNames=%[1]s\n"+definitions+"/status,verbs=patch,resourceNames=%[1]s\n"+
		"// +kubebuilder:rbac:groups=%[2]s,resources=%[3]s,verbs=get;list;patch\n", name, r.QualifiedGroup(), r.PluralName())
	return []plan.Piece{
		piece.Fragment{Marker: "definitions", Code: fmt.Sprintf("%q,\n", name), Key: fmt.Sprintf("%q", name)},
		piece.Fragment{Marker: "permissions", Code: permissions, Key: "resourceNames=" + name},
	}
}

// requireAllNamespaces refuses a manager that reads one namespace: it would declare objects of others migrated.
func (p *planner) requireAllNamespaces() error {
	byMarkers, err := manager.RolesByMarkers(p.Plan)
	if err != nil || p.Recording() || !byMarkers && !p.project.Namespaced {
		return err
	}
	main, err := manager.Find(p.Plan, p.project)
	if err != nil {
		return err
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("%s stores the objects of all namespaces, and the manager has permissions in one", features.Migration), Where: main.Place(),
		Hint: "nothing was changed; store the objects in each cluster with slipway migrate, or give the manager permissions in all namespaces",
		Next: "slipway edit --namespaced=false",
	}
}

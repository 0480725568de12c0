package newapi

import (
	"fmt"
	"path"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// planMain registers the API's types in the manager's code and sets up its controller there.
func (a *planner) planMain() error {
	code := manager.Code{Scheme: a.schemePieces, SetUp: a.controllerPieces, Skip: a.options.SkipWiring}
	return code.Wire(a.Plan, a.project, manager.Find)
}

func (a *planner) schemePieces(src []byte) []plan.Piece {
	return kind.SchemePieces(a.project, a.resource, gofile.ImportsOf(src), "utilruntime.Must(%s.AddToScheme(scheme))\n")
}

// suiteFragments registers the types with the scheme of the tests' client.
func (a *planner) suiteFragments(src []byte) []plan.Piece {
	code := "utilruntime.Must(%s.AddToScheme(scheme.Scheme))\n"
	if gofile.UsesGinkgo(src) {
		code = "Expect(%s.AddToScheme(scheme.Scheme)).To(Succeed())\n"
	}
	return kind.SchemePieces(a.project, a.resource, gofile.ImportsOf(src), code)
}

func (a *planner) controllerPieces(src []byte) []plan.Piece {
	if !a.makesController() {
		return nil
	}
	r, imports := a.resource, gofile.ImportsOf(src)
	pkg, usual := path.Join(a.project.Repo, a.project.ControllerDir(r)), a.project.ControllerImportAlias(r)
	there := a.PackageName(a.project.ControllerDir(r))
	if there != "" && usual == a.project.ControllerPackage(r) {
		usual = there
	}
	name := imports.Names(src, pkg, there).Name(pkg, usual)
	key := fmt.Sprintf("%s.%s{", name, a.reconciler())
	code := fmt.Sprintf("if err := (&%[1]s\n\tClient: %[2]s.GetClient(),\n\tScheme: %[2]s.GetScheme(),\n}).SetupWithManager(%[2]s); err != nil {\n%[3]s}\n",
		key, wiring.Manager(src), manager.Failure(a.Plan, src, imports, "set up the "+a.controllerTitle()+" controller"))
	if made := fmt.Sprintf("%s.New%s(", name, a.reconciler()); wiring.Calls(src, made) {
		key = made // the author's function that makes the reconciler
	}
	return []plan.Piece{piece.UsedImportAt(a.project.Repo, name, pkg), piece.Fragment{Marker: "builder", Code: code, Key: key}}
}

// planMigration adds the kind to the storage migration, if the project has that feature.
func (a *planner) planMigration() error { return feature.MigrateKind(a.Plan, a.resource) }

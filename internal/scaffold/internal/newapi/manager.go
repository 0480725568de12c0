package newapi

import (
	"fmt"
	"path"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// mainFragments wires the API into the manager's main.go.
func (a *planner) mainFragments(src []byte) []plan.Piece {
	imports := gofile.ImportsOf(src)
	of := kind.SchemePieces(a.project, a.resource, imports, "utilruntime.Must(%s.AddToScheme(scheme))\n")
	if a.options.Controller {
		of = append(of, a.controllerFragments(imports, src)...)
	}
	return of
}

// suiteFragments makes the types known to the client of the controllers' tests.
func (a *planner) suiteFragments(src []byte) []plan.Piece {
	code := "utilruntime.Must(%s.AddToScheme(scheme.Scheme))\n"
	if gofile.UsesGinkgo(src) {
		code = "Expect(%s.AddToScheme(scheme.Scheme)).To(Succeed())\n"
	}
	return kind.SchemePieces(a.project, a.resource, gofile.ImportsOf(src), code)
}

// controllerFragments imports the controller's package and starts the controller.
func (a *planner) controllerFragments(imports gofile.Imports, src []byte) []plan.Piece {
	r := a.resource
	pkg := path.Join(a.project.Repo, a.project.ControllerDir(r))
	name := imports.Name(pkg, a.project.ControllerImportAlias(r))
	key := fmt.Sprintf("%s.%s{", name, a.reconciler())
	code := fmt.Sprintf("if err := (&%s\n\tClient: mgr.GetClient(),\n\tScheme: mgr.GetScheme(),\n}).SetupWithManager(mgr); err != nil {\n%s}\n",
		key, manager.Failure(a.Plan, src, imports, "set up the "+a.controllerTitle()+" controller"))
	return []plan.Piece{piece.ImportAt(a.project.Repo, name, pkg), piece.Fragment{Marker: "builder", Code: code, Key: key}}
}

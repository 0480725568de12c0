package feature

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// tracingFile is the code with which a manager sends spans.
const tracingFile = "internal/manager/tracing.go"

// tracingModules are those that it imports. A new project requires them already, for others.
var tracingModules = []string{
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
	"go.opentelemetry.io/otel",
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc",
	"go.opentelemetry.io/otel/sdk",
	"go.opentelemetry.io/otel/trace",
}

// planTracing plans the code that sends spans, its call in main.go, and that reconcilers are traced.
func (p *planner) planTracing() error {
	main, err := manager.Find(p.Plan, p.project)
	if err != nil {
		return err
	}
	if there, err := p.Exists(manager.FlagsFile); err != nil || !there {
		return cmp.Or[error](err, &report.Error{
			What: "tracing needs a manager of `slipway init`", Where: main.Place(),
			Hint: "nothing was changed, since the project has no " + manager.FlagsFile + "; in another project set up OpenTelemetry in the main function, " +
				"and wrap reconcilers where they are completed",
		})
	}
	if err := p.RequireFrom("features-tracing/tracing.go", tracingFile, p.data()); err != nil {
		return err
	}
	if err := main.Insert(p.Plan, p.tracePieces); err != nil {
		return err
	}
	for _, file := range p.controllerFiles() {
		if there, err := p.Exists(file); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := p.Insert(file, p.tracedPieces); err != nil {
			return err
		}
	}
	for _, module := range tracingModules {
		if err := p.Insert("go.mod", plan.These(gomod.DirectUse{Module: module})); err != nil {
			return err
		}
	}
	return nil
}

// controllerFiles are the files of all controllers that PROJECT records.
func (p *planner) controllerFiles() []string {
	var files []string
	for _, r := range p.project.Resources {
		if r.Controller {
			files = append(files, p.project.ControllerFile(r))
		}
		for _, c := range r.Controllers {
			files = append(files, p.project.NamedControllerFile(r, c.Name))
		}
	}
	return files
}

// managerPackage is the package of the code, and what a file calls it.
func (p *planner) managerPackage(src []byte) (name, pkg string) {
	pkg = p.project.Repo + "/internal/manager"
	return gofile.ImportsOf(src).Name(pkg, "manager"), pkg
}

// managerCall calls a function of the code in main.go.
func (p *planner) managerCall(src []byte, function, argument, doing string) []plan.Piece {
	name, pkg := p.managerPackage(src)
	key := name + "." + function + "("
	code := fmt.Sprintf("if err := %s%s); err != nil {\n%s}\n", key, argument, manager.Failure(p.Plan, src, gofile.ImportsOf(src), doing))
	return []plan.Piece{piece.UsedImportAt(p.project.Repo, name, pkg), piece.Fragment{Marker: "builder", Code: code, Key: key}}
}

// tracePieces call the code in main.go.
func (p *planner) tracePieces(src []byte) []plan.Piece {
	return p.managerCall(src, "Trace", "mgr", "trace")
}

// tracedPieces trace the reconciler of a controller's file. One that is completed in another way stays as it is,
// without the import.
func (p *planner) tracedPieces(src []byte) []plan.Piece {
	name, pkg := p.managerPackage(src)
	traced := piece.WrappedArgument{Method: "Complete", Argument: "r", Around: name + ".Traced"}
	if out, err := traced.Insert("", src); !p.Recording() && (err != nil || bytes.Equal(out, src)) {
		return nil
	}
	return []plan.Piece{piece.Import{Path: pkg}, traced}
}

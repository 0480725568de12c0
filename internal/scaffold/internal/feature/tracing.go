package feature

import (
	"bytes"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// planTraced has the project's reconcilers traced.
func (p *planner) planTraced() error {
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

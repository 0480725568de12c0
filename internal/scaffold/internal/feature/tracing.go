package feature

import (
	"bytes"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

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

// controllerFiles returns the files of all controllers in PROJECT.
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

// tracedPieces wraps the reconciler where it is completed. If that is not found, it returns nothing, so that the file
// gets no unused import.
func (p *planner) tracedPieces(src []byte) []plan.Piece {
	name, pkg := p.managerPackage(src)
	traced := piece.WrappedArgument{Method: "Complete", Argument: "r", Around: name + ".Traced"}
	if out, err := traced.Insert("", src); !p.Recording() && (err != nil || bytes.Equal(out, src)) {
		return nil
	}
	return []plan.Piece{piece.Import{Path: pkg}, traced}
}

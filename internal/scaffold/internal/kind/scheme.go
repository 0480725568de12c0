package kind

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// SchemePieces import the types of r and register them with code, in which %s
// stands for their package.
func SchemePieces(p *project.Project, r project.Resource, imports gofile.Imports, code string) []plan.Piece {
	if !Registers(r) {
		return nil
	}
	pkg := p.ImportPath(r)
	name := imports.Name(pkg, r.ImportAlias())
	var of []plan.Piece
	registers := piece.Fragment{Marker: "scheme", Code: fmt.Sprintf(code, name), Key: name + ".AddToScheme("}
	if strings.HasPrefix(code, "utilruntime.") {
		of = append(of, piece.ImportFor{Import: piece.Import{Name: "utilruntime", Path: utilRuntime, Module: p.Repo}, User: registers})
	}
	return append(of, piece.ImportAt(p.Repo, name, pkg), registers)
}

// utilRuntime is the package of the function Must, which registers types.
const utilRuntime = "k8s.io/apimachinery/pkg/util/runtime"

// Registers reports whether a scheme must be reported of the types: client-go's knows most of
// Kubernetes' own.
func Registers(r project.Resource) bool {
	return !r.Core || r.Group == "apiextensions"
}

package piece

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// ByHand is the text of pieces of a Go file for who inserts them by hand: imports first, then code.
func ByHand(of []plan.Piece) string {
	var imports, code strings.Builder
	for _, p := range of {
		switch p := p.(type) {
		case UsedImport:
			imports.WriteString("import " + p.Code)
		case Import:
			imports.WriteString("import " + p.spec() + "\n")
		case Fragment:
			if p.Marker == importsMarker {
				imports.WriteString("import " + p.Code)
			} else {
				code.WriteString(p.Code)
			}
		}
	}
	return imports.String() + code.String()
}

package layout

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
)

// checkModules refuses to take a package out of its Go module or into another one: other projects import it as a part
// of the one that is published.
func (m *moving) checkModules(p *relocate.Package) {
	from := m.Code().NestedModule(p.Dir)
	for _, part := range p.Parts {
		to := m.Code().NestedModule(part.Dir)
		if from == to {
			continue
		}
		m.Refuse(&report.Error{
			What: p.Dir + " would move to " + part.Dir + ", into another Go module: code that imports " + p.Import + " would not find it there", Where: cmp.Or(from, to) + "/go.mod:1",
			Hint: "nothing was changed; move the Go module first, with a release under its new import path, or stay with the layout for one group",
		})
	}
}

package layout

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
)

// checkModules refuses to take a package out of its Go module or into another one: other projects import it as a part
// of the one that is published.
func (m *moving) checkModules(p *relocate.Package) error {
	from, err := gomod.NestedFile(m.Code().View(), p.Dir)
	if err != nil {
		return err
	}
	for _, part := range p.Parts {
		to, err := gomod.NestedFile(m.Code().View(), part.Dir)
		if err != nil {
			return err
		}
		if from == to {
			continue
		}
		m.Refuse(&report.Error{
			What: p.Dir + " would move to " + part.Dir + ", into another Go module: code that imports " + p.Import + " would not find it there", Where: cmp.Or(from, to) + ":1",
			Hint: "nothing was changed; move the Go module first, with a release under its new import path, or stay with the layout for one group",
		})
	}
	return nil
}

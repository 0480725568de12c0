package layout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// findKinds finds the kinds whose packages move: those in PROJECT, and those that only the code has in the layout's
// folders.
func (m *moving) findKinds() error {
	unlisted, err := projectfile.Unlisted(m.Plan, m.project)
	m.kinds = slices.Concat(m.project.Resources, slices.DeleteFunc(unlisted, func(r project.Resource) bool {
		return m.from.APIDir(r) != layoutAPIDir(m.from, r)
	}))
	return err
}

// checkGroups refuses the layout for one group if there are several: groups that PROJECT does not list would stay in
// place.
func (m *moving) checkGroups() error {
	if m.to.MultiGroup {
		return nil
	}
	groups := m.project.Groups()
	hint := "the layout without --multigroup holds one group; nothing was changed"
	for _, r := range m.kinds[len(m.project.Resources):] {
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
			hint += "; PROJECT does not list " + r.Group + ", which is at " + m.Code().KindIn(m.project.APIDir(r), r.Kind).Where()
		}
	}
	if len(groups) < 2 {
		return nil
	}
	return &report.Error{What: "the project has APIs of the groups " + strings.Join(groups, ", "), Where: "--multigroup=false", Hint: hint}
}

// checkModules refuses to move a package into another Go module: other projects import it from its present one.
func (m *moving) checkModules(p *relocate.Package) {
	from := m.Code().NestedModule(p.Dir)
	for _, part := range p.Parts {
		to := m.Code().NestedModule(part.Dir)
		if from == to {
			continue
		}
		m.Refuse(&report.Error{
			Class: report.BadProject,
			What:  p.Dir + " would move to " + part.Dir + ", into another Go module: code that imports " + p.Import + " would not find it there", Where: cmp.Or(from, to) + "/go.mod:1",
			Hint: "nothing was changed; move the Go module first, with a release under its new import path, or stay with the layout for one group",
		})
	}
}

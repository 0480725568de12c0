package layout

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
)

// checkGroups refuses the layout for one group where PROJECT lists several, or the folders of APIs have more: those
// that PROJECT does not list would stay where they are.
func (m *moving) checkGroups() error {
	if m.to.MultiGroup {
		return nil
	}
	groups := m.project.Groups()
	unlisted, err := m.unlistedGroups()
	if err != nil {
		return err
	}
	hint := "the layout without --multigroup holds one group; nothing was changed"
	for _, group := range slices.Sorted(maps.Keys(unlisted)) {
		groups = append(groups, group)
		hint += "; PROJECT does not list " + group + ", which is at " + unlisted[group].Where()
	}
	if len(groups) < 2 {
		return nil
	}
	return &report.Error{What: "the project has APIs of the groups " + strings.Join(groups, ", "), Where: "--multigroup=false", Hint: hint}
}

// unlistedGroups are the groups of the code in the folders of APIs that no kind in PROJECT has.
func (m *moving) unlistedGroups() (map[string]codebase.Kind, error) {
	unlisted := map[string]codebase.Kind{}
	kinds, err := m.Code().Kinds()
	for _, k := range kinds {
		group := strings.TrimSuffix(k.Package.Group, "."+m.project.Domain)
		root, _, _ := strings.Cut(k.File, "/")
		if _, known := unlisted[group]; !known && group != "" && !m.lists(k.Package.Group) && slices.Contains(m.apiRoots(), root) {
			unlisted[group] = k
		}
	}
	return unlisted, err
}

// apiRoots are the folders from which the layout's types move.
func (m *moving) apiRoots() []string {
	var roots []string
	for _, r := range m.project.Resources {
		if !m.project.Own(r) {
			continue
		}
		if root, _, _ := strings.Cut(layoutAPIDir(m.from, r), "/"); !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// lists reports whether PROJECT has a kind of an API group.
func (m *moving) lists(group string) bool {
	for _, r := range m.project.Resources {
		if r.API != nil && r.QualifiedGroup() == group {
			return true
		}
	}
	return false
}

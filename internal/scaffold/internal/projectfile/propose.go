package projectfile

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Propose is the description of a project that has code and no PROJECT file: its domain follows from the API groups of
// the code, and so does the layout for several of them. Known says that the code has some.
func Propose(root, repo string) (file *project.Project, known bool, err error) {
	file = &project.Project{Version: "3", Layout: []string{project.Layout}, Name: nameOf(repo), Repo: repo}
	kinds, err := plan.Reading(root).Code().Kinds()
	if err != nil {
		return nil, false, err
	}
	groups := groupsIn(kinds)
	file.Domain, file.MultiGroup = domainOf(groups), len(groups) > 1
	return file, len(groups) > 0, nil
}

// nameOf is the project's name that the path of a module ends in.
func nameOf(repo string) string {
	if prefix, _, ok := module.SplitPathVersion(repo); ok {
		repo = prefix
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(strings.ToLower(path.Base(repo)))
}

// groupsIn are the API groups of kinds.
func groupsIn(kinds []codebase.Kind) (groups []string) {
	for _, k := range kinds {
		if group := k.Package.Group; group != "" && project.ValidateVersion(k.Package.Version) == nil && !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// domainOf is what all groups end in that leaves each a name. Where that is a single label, as it is of groups of
// different domains, it is what follows the name of the first group.
func domainOf(groups []string) string {
	if len(groups) == 0 {
		return ""
	}
	_, first, _ := strings.Cut(groups[0], ".")
	common := first
	for _, group := range groups[1:] {
		for common != "" && !strings.HasSuffix(group, "."+common) {
			_, common, _ = strings.Cut(common, ".")
		}
	}
	if len(groups) > 1 && !strings.Contains(common, ".") {
		return first
	}
	return common
}

package codebase

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/recipe"
)

// A Change is what a recipe does to generated files after a call of controller-gen.
type Change struct {
	// Pattern names the files, or a folder of them, in the project.
	Pattern string
	Step    recipe.Step
	Call    Call
}

// Changes are those of all recipes, of files that the call before writes. A step that names none of these, but
// documentation or the code of another language, changes none.
func (g Generation) Changes() (changes []Change) {
	for call, use := range g.uses {
		for _, step := range call.Then {
			var patterns []string
			if code := use.Name == "object" || use.Name == "applyconfiguration"; code {
				patterns = step.Edited(func(place string) bool { return path.Ext(place) == ".go" || call.reads(place) })
			} else if folder, inside := call.file(use, "."); inside && folder != "" {
				patterns = step.Changes(folder)
			}
			for _, pattern := range patterns {
				if !slices.ContainsFunc(changes, func(c Change) bool { return c.Pattern == pattern }) {
					changes = append(changes, Change{pattern, step, call})
				}
			}
		}
	}
	return changes
}

// reads reports whether a folder is one of those whose code the call reads, or has such a one.
func (c Call) reads(folder string) bool {
	return c.covers(folder) || folder == "." || slices.ContainsFunc(c.Paths, func(pattern string) bool {
		return strings.HasPrefix(path.Join(c.Dir, strings.TrimSuffix(pattern, "...")), folder+"/")
	})
}

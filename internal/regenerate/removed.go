package regenerate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/generate"
)

// removes notes the files that a recipe removes after a call: those that no later call of the recipe may make again.
func (p *Plan) removes(call codebase.Call) {
	recipe := call.File + ":" + call.Target
	before, seen := p.removed[recipe]
	if !seen {
		if p.removed == nil {
			p.removed = make(map[string][]string)
		}
		p.removed[recipe] = call.Removed
		return
	}
	p.removed[recipe] = slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(call.Removed, name) })
}

// without are the files that the plan does not make, and folders of such files, as absolute paths and patterns.
func (p Plan) without() (paths []string) {
	for _, recipe := range slices.Sorted(maps.Keys(p.removed)) {
		for _, name := range p.removed[recipe] {
			paths = append(paths, p.absolute(name))
		}
	}
	for _, change := range p.changes {
		paths = append(paths, p.pattern(change))
	}
	return paths
}

func (p Plan) absolute(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

// pattern matches the absolute paths of the files that a recipe changes.
func (p Plan) pattern(change codebase.Change) string {
	root := p.root
	if os.PathSeparator != '\\' && strings.ContainsAny(change.Pattern, `*?[`) { // elsewhere patterns have no escapes
		root = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(root)
	}
	return filepath.Join(root, filepath.FromSlash(change.Pattern))
}

// Removes reports whether a recipe removes a file that the project's generators make.
func (p Plan) Removes(path string) bool {
	for _, names := range p.removed {
		if slices.ContainsFunc(names, func(name string) bool { return p.absolute(name) == path }) {
			return true
		}
	}
	return false
}

// A Left is a change of generated files that slipway leaves to the project's recipes.
type Left struct {
	Files  []string // relative to the project, with slashes
	Change codebase.Change
}

// Left are the changes for which a run has not made files, with these files.
func (p Plan) Left(paths []string) (left []Left) {
	for _, change := range p.changes {
		one := Left{Change: change}
		for _, path := range paths {
			if !p.Removes(path) && generate.Covers(p.pattern(change), path) {
				one.Files = append(one.Files, Relative(p.root, path))
			}
		}
		if len(one.Files) > 0 {
			left = append(left, one)
		}
	}
	return left
}

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

// removes records the files that a recipe deletes after a call. A file that a later call may make again does not count.
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

// filesLeftToRecipes returns absolute paths and patterns of files that the plan does not make, or of folders of such
// files.
func (p Plan) filesLeftToRecipes() (paths []string) {
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

// pattern returns a pattern for the absolute paths of the files that a recipe edits.
func (p Plan) pattern(change codebase.Change) string {
	root := p.root
	if os.PathSeparator != '\\' && strings.ContainsAny(change.Pattern, `*?[`) { // on Windows, patterns have no escapes
		root = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(root)
	}
	return filepath.Join(root, filepath.FromSlash(change.Pattern))
}

// Removes reports whether a recipe deletes the file at this absolute path after generating it.
func (p Plan) Removes(path string) bool {
	for _, names := range p.removed {
		if slices.ContainsFunc(names, func(name string) bool { return p.absolute(name) == path }) {
			return true
		}
	}
	return false
}

// A Left is an edit of generated files that slipway leaves to the project's recipes.
type Left struct {
	Files  []string // slash-separated, relative to the project
	Change codebase.Change
}

// Left returns the edits that apply to files in paths, each with those files. The plan does not make them.
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

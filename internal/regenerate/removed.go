package regenerate

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/makefile"
)

// removes notes the files that a recipe removes after a call: those that no later call of the recipe may make again.
func (p *Plan) removes(call makefile.Call) {
	before, seen := p.removed[call.Target]
	if !seen {
		if p.removed == nil {
			p.removed = make(map[string][]string)
		}
		p.removed[call.Target] = call.Removed
		return
	}
	p.removed[call.Target] = slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(call.Removed, name) })
}

// without are the files that the plan does not make, as absolute paths.
func (p Plan) without() (paths []string) {
	for _, target := range slices.Sorted(maps.Keys(p.removed)) {
		for _, name := range p.removed[target] {
			paths = append(paths, filepath.Join(p.root, filepath.FromSlash(name)))
		}
	}
	return paths
}

// Removes reports whether a recipe of the Makefile removes a file that its generators make.
func (p Plan) Removes(path string) bool { return slices.Contains(p.without(), path) }

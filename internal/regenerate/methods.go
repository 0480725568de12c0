package regenerate

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/generate/arguments"
)

// Methods returns the part of the plan that generates deep copy methods for the packages in folders, which do not
// compile without them. Folders are slash-separated and relative to the project.
func (p Plan) Methods(folders []string) Plan {
	part := Plan{root: p.root, name: p.name, pin: p.pin}
	for _, run := range p.runs {
		uses := slices.DeleteFunc(slices.Clone(run.uses), func(use generate.Use) bool { return use.Name != "object" })
		paths := run.covered(folders)
		if len(uses) > 0 && len(paths) > 0 {
			part.runs = append(part.runs, planned{dir: run.dir, paths: paths, tags: run.tags, uses: uses})
		}
	}
	return part
}

// Empty reports whether the plan has no runs.
func (p Plan) Empty() bool { return len(p.runs) == 0 }

// covered returns package patterns for those of the folders that the run reads.
func (r planned) covered(folders []string) (patterns []string) {
	for _, folder := range folders {
		rel, err := filepath.Rel(filepath.FromSlash(path.Join("/", r.dir)), filepath.FromSlash(path.Join("/", folder)))
		rel = filepath.ToSlash(rel)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if slices.ContainsFunc(r.paths, func(pattern string) bool { return arguments.Covers(pattern, rel) }) {
			patterns = append(patterns, "./"+rel)
		}
	}
	return patterns
}

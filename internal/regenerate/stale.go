package regenerate

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// A Difference is a generated file that differs from what the code generates.
type Difference struct {
	Path   string        `json:"path"` // relative to the project
	Action report.Action `json:"action"`
	Diff   string        `json:"diff"` // unified, from the file on disk to the generated one
}

// Stale returns the files of a plan's result that differ from those on disk.
func (p Plan) Stale(files []generate.File) ([]Difference, error) {
	var differences []Difference
	for _, f := range files {
		if f.Action == report.Unchanged {
			continue
		}
		name := Relative(p.root, f.Path)
		there, err := safefs.ReadFile(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &report.Error{What: "file cannot be read", Where: f.Path, Err: err}
		}
		differences = append(differences, Difference{
			Path: name, Action: f.Action,
			Diff: string(diff.Diff("a/"+name, there, "b/"+name, f.Content)),
		})
	}
	return differences, nil
}

// Relative returns a path relative to root with slashes, as users write it. A path outside root is returned as it is.
func Relative(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

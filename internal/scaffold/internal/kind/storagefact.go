package kind

import (
	"cmp"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// storageKey is where PROJECT records, below `plugins`, which versions slipway has marked as stored in files that it
// did not make. The base says so of the others.
const storageKey = "storage." + project.PluginKey

// A markedVersion is one of them.
type markedVersion struct{ Group, Version, Kind string }

type storageFacts struct {
	Resources []markedVersion `yaml:"resources"`
}

// versionIn is the version of a kind whose types are in a file.
func versionIn(p *plan.Plan, r project.Resource, file string) markedVersion {
	dir := path.Dir(file)
	return markedVersion{r.Group, cmp.Or(p.Code().Package(dir).Version, p.PackageName(dir)), r.Kind}
}

// marked are the versions that are recorded.
func marked(file *project.Project) ([]markedVersion, error) {
	var facts storageFacts
	_, err := file.Plugin(storageKey, &facts)
	return facts.Resources, err
}

// noteMarked records that slipway marks the version in a file that it did not make. PROJECT of version 2 has no place
// for that.
func noteMarked(p *plan.Plan, file *project.Project, r project.Resource, types string) error {
	if _, ours := p.Base().File(types); ours || file.Terse() {
		return nil
	}
	all, err := marked(file)
	if version := versionIn(p, r, types); err == nil && !slices.Contains(all, version) {
		return file.SetPlugin(storageKey, storageFacts{append(all, version)})
	}
	return err
}

// forgetMarked takes versions of a kind out of what is recorded, and reports whether there were some.
func forgetMarked(file *project.Project, r project.Resource, of func(version string) bool) (bool, error) {
	all, err := marked(file)
	kept := slices.DeleteFunc(slices.Clone(all), func(m markedVersion) bool {
		return m.Group == r.Group && m.Kind == r.Kind && of(m.Version)
	})
	switch {
	case err != nil || len(kept) == len(all):
		return false, err
	case len(kept) == 0:
		file.DropPlugin(storageKey)
		return true, nil
	}
	return true, file.SetPlugin(storageKey, storageFacts{kept})
}

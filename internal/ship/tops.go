package ship

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/finite"
)

// Tops are the folders below root, relative to it, whose kustomization no other one there includes: what can be
// deployed. Folders that hold no configuration are passed over, as are those that cannot be read.
func Tops(root string) ([]string, error) {
	var found []string
	included := map[string]bool{}
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return fs.SkipDir
		case err != nil || !d.IsDir():
			return err
		case dir != root && withoutConfiguration(d.Name()):
			return fs.SkipDir
		}
		file, err := kustomizationIn(dir)
		if err != nil {
			return nil // there is none
		}
		top, includes := readIncludes(file)
		for _, name := range includes {
			included[filepath.Join(dir, filepath.FromSlash(name))] = true
		}
		if top {
			found = append(found, dir)
		}
		return nil
	})
	found = slices.DeleteFunc(found, func(dir string) bool { return included[dir] })
	for i, dir := range found {
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		found[i] = filepath.ToSlash(rel)
	}
	return found, err
}

// withoutConfiguration reports whether a folder of this name holds other things than a project's configuration.
func withoutConfiguration(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"vendor", "node_modules", "testdata", "bin"}, name)
}

// readIncludes are the paths that a kustomization includes, and whether it is none that is only there to be included.
// One that cannot be read includes nothing.
func readIncludes(file string) (top bool, includes []string) {
	var k struct {
		Kind                         string
		Resources, Bases, Components []string
	}
	text, err := finite.ReadFile(file)
	if err != nil || yaml.Unmarshal(text, &k) != nil {
		return true, nil
	}
	for _, name := range slices.Concat(k.Resources, k.Bases, k.Components) {
		includes = append(includes, path.Clean(name))
	}
	return k.Kind != "Component", includes
}

package feature

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A listed file is one that a kustomization has among its resources.
type listed struct{ file, by string }

// maxBuilt bounds the files that are read for one kustomization's tree.
const maxBuilt = 2000

// kustomizations are the names of a folder's kustomization, as kustomize looks for them.
var kustomizations = [...]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// built are the files that config/default builds of, in the order in which they are listed: what other places hold is
// not deployed. What is outside of the project or cannot be read is left to kustomize, which reports it.
func (p *planner) built() ([]listed, error) {
	tree := tree{planner: p, seen: map[string]bool{}}
	err := tree.folder(path.Dir(defaultConfig))
	return tree.files, err
}

// A tree is a walk through kustomizations.
type tree struct {
	*planner
	seen  map[string]bool
	files []listed
}

func (t *tree) folder(dir string) error {
	for _, name := range kustomizations {
		list := path.Join(dir, name)
		c, err := t.Find(list)
		if err != nil {
			return err
		}
		if c.There() {
			return t.list(list, c.After())
		}
	}
	return nil
}

// list walks through what a kustomization lists.
func (t *tree) list(list string, src []byte) error {
	var kustomization struct{ Resources, Bases, Components []string }
	if yaml.Unmarshal(src, &kustomization) != nil {
		return nil
	}
	for _, entry := range slices.Concat(kustomization.Resources, kustomization.Bases, kustomization.Components) {
		name := path.Join(path.Dir(list), entry)
		if strings.Contains(entry, "://") || !filepath.IsLocal(filepath.FromSlash(name)) || len(t.seen) == maxBuilt || t.seen[name] {
			continue
		}
		t.seen[name] = true
		if err := t.entry(listed{file: name, by: list}); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) entry(l listed) error {
	info, err := os.Stat(filepath.Join(t.Root(), filepath.FromSlash(l.file)))
	switch {
	case errors.Is(err, fs.ErrNotExist): // planned, or another place of kustomize's, such as a repository
		there, err := t.Exists(l.file)
		if there {
			t.files = append(t.files, l)
		}
		return err
	case err != nil:
		return nil
	case info.IsDir():
		return t.folder(l.file)
	case info.Mode().IsRegular():
		t.files = append(t.files, l)
	}
	return nil
}

package listing

import (
	"errors"
	"io/fs"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// A Listed file is one that a kustomization has among its resources.
type Listed struct{ File, By string }

// mostListed bounds the names that are looked at for one folder.
const mostListed = 2000

// Files are the files that a folder builds of once a plan is applied, each once, in the order in which they are listed:
// what other places hold is not deployed. What is outside of the project or not there is left to kustomize, which
// reports it. A kustomization that cannot be read is an error. Other folders of the project are not looked at.
func Files(p *plan.Plan, folder string) ([]Listed, error) {
	t := tree{Kustomizations: &Kustomizations{plan: p, known: map[string]*list{}}, seen: map[string]bool{}}
	t.folder(folder)
	return t.files, t.err
}

// A tree is a walk from a kustomization to those that it lists.
type tree struct {
	*Kustomizations
	seen  map[string]bool
	files []Listed
}

func (t *tree) folder(folder string) {
	found := t.of(folder)
	if found == nil {
		return
	}
	for _, name := range found.listed {
		if !t.seen[name] && len(t.seen) < mostListed {
			t.seen[name] = true
			t.entry(Listed{File: name, By: found.file})
		}
	}
}

// entry adds a file, or the files of a folder.
func (t *tree) entry(l Listed) {
	info, err := t.stat(l.File)
	switch {
	case err == nil && info.Mode().IsRegular(), errors.Is(err, fs.ErrNotExist) && t.isPlanned(l.File):
		t.files = append(t.files, l)
	case err == nil && info.IsDir(), errors.Is(err, fs.ErrNotExist):
		t.folder(l.File)
	}
}

// isPlanned reports whether a file that is not on the disk will be there.
func (t *tree) isPlanned(name string) bool {
	there, err := t.plan.Exists(name)
	return err == nil && there
}

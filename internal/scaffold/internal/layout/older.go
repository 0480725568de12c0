package layout

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
)

// findFolders finds the folders of types that nothing is left in: in older layouts api/ becomes apis/, and Dockerfiles
// name it.
func (m *moving) findFolders() error {
	for _, p := range m.set.Packages {
		from, to := topFolder(p.Dir), topFolder(p.Parts[0].Dir)
		if from != to && m.project.Older() && !m.staysIn(from) {
			m.set.Folders = append(m.set.Folders, relocate.Folder{From: from, To: to})
			return nil
		}
	}
	return nil
}

// topFolder is the first folder of a path.
func topFolder(dir string) string {
	top, _, _ := strings.Cut(dir, "/")
	return top
}

// staysIn reports whether a file of the folder does not move out of it.
func (m *moving) staysIn(folder string) bool {
	for _, name := range m.below(folder) {
		for _, target := range m.set.Targets(path.Join(folder, name)) {
			if topFolder(target.Path) == folder {
				return true
			}
		}
	}
	return false
}

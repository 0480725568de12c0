package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// projectRoot is the folder of the project that the command was given in.
func (inv *invocation) projectRoot() (string, error) {
	root, err := project.Find(inv.Dir)
	if errors.Is(err, project.ErrNotFound) {
		return "", &report.Error{
			What:  "no project in this folder",
			Where: inv.Dir,
			Hint:  "a file named " + project.FileName + " was expected here or in a folder above",
			Next:  "slipway init --domain example.com --repo example.com/operator",
		}
	}
	return root, err
}

// projectRootOrNone is the same for commands that can do without a project: an
// empty path where there is none.
func (inv *invocation) projectRootOrNone() (string, error) {
	root, err := project.Find(inv.Dir)
	if errors.Is(err, project.ErrNotFound) {
		return "", nil
	}
	return root, err
}

// moduleRoot is the project's root or, for commands that need Go code alone, that of the module around the working folder. It
// reports whether PROJECT is there.
func (inv *invocation) moduleRoot() (root string, described bool, err error) {
	if root, err = inv.projectRootOrNone(); err != nil || root != "" {
		return root, err == nil, err
	}
	for dir := inv.Dir; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir, false, nil
		}
		if dir == filepath.Dir(dir) {
			return "", false, &report.Error{What: "no Go module in this folder", Where: inv.Dir, Hint: "a file named go.mod was expected here or in a folder above", Next: "go mod init example.com/operator"}
		}
	}
}

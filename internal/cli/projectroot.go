package cli

import (
	"errors"

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

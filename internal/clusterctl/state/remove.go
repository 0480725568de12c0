package state

import (
	"errors"
	"io/fs"
	"os"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/removetree"
	"github.com/slipway-dev/slipway/internal/report"
)

// removeAll removes files, also those that this user may not remove: real nodes have files of ids that the system has
// set aside for the user, where newuidmap and newgidmap give them, and folders of overlays that no user may enter.
func (c Cluster) removeAll(path string) error {
	err := removetree.All(path)
	if !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 || c.Remover == nil {
		return err
	}
	program := c.Remover()
	if _, statErr := os.Stat(program); statErr != nil {
		return &report.Error{
			What: "cannot remove files of real nodes, which belong to other user ids", Where: path, Err: err,
			Hint: "slipway-container removes them, and is not compiled", Next: "slipway cluster build --nodes real",
		}
	}
	cmd, untrusted := process.Command(program, "remove", path)
	if untrusted != nil {
		return errors.Join(err, untrusted)
	}
	if cmd.Run() != nil {
		return err
	}
	return nil
}

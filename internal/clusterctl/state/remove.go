package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/removetree"
)

// remover removes files, also those that this user may not remove: real nodes have files of ids that the system has set
// aside for him, where newuidmap and newgidmap give them, and folders of overlays that nobody may enter.
type remover struct {
	program string // slipway-container, which can; empty without real nodes
}

func (c Cluster) remover() remover {
	program, _ := os.ReadFile(filepath.Join(c.Dir, "nodes", ".remover")) // which the cluster program writes
	return remover{string(program)}
}

func (r remover) all(path string) error {
	err := removetree.All(path)
	if r.program == "" || !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 {
		return err
	}
	cmd, untrusted := process.Command(r.program, "remove", path)
	if untrusted != nil {
		return errors.Join(err, untrusted)
	}
	if cmd.Run() != nil {
		return err
	}
	return nil
}

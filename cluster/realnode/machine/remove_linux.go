package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/slipway-dev/slipway/cluster/realnode/removetree"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// RemoveAll removes a folder in a machine's state, or the state itself. If an ordinary user lacks permission,
// slipway-container at path program removes the rest; an empty program skips that. Files of subordinate ids do not
// belong to the user. Nor may any user enter the work folders that the kernel makes for overlays; a node killed at the
// wrong moment leaves files in them.
func RemoveAll(dir, program string) error {
	err := removetree.All(dir)
	if program == "" || !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 {
		return err
	}
	if out, removeErr := exec.Command(program, wire.PartRemove, dir).CombinedOutput(); removeErr != nil {
		return fmt.Errorf("%w (%w: %s)", err, removeErr, bytes.TrimSpace(out))
	}
	return nil
}

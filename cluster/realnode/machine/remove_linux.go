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

// RemoveAll removes a folder in a machine's state, or all of it. The program slipway-container, if its path is not
// empty, removes what an ordinary user may not remove. Files of ids that were reserved for the user do not belong to
// that user. The kernel makes folders for overlays that no user may enter; a node killed at the wrong moment does not
// leave them empty.
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

package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/slipway-dev/slipway/cluster/realnode/removetree"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// remover is the file in a machine's state that names the program which can remove all of it; no node has such a name.
const remover = ".remover"

// RemoveAll removes a machine's state. The program slipway-container removes what an ordinary user may not remove.
// Files of ids that were reserved for the user do not belong to that user. The kernel makes folders for overlays that
// no user may enter; a node killed at the wrong moment does not leave them empty.
func RemoveAll(state string) error { return removeBelow(state, state) }

// removeBelow removes a folder in a machine's state, or all of it.
func removeBelow(state, dir string) error {
	program, _ := os.ReadFile(filepath.Join(state, remover)) // without one there was no machine
	err := removetree.All(dir)
	if len(program) == 0 || !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 {
		return err
	}
	if out, removeErr := exec.Command(string(program), wire.PartRemove, dir).CombinedOutput(); removeErr != nil {
		return fmt.Errorf("%w (%w: %s)", err, removeErr, bytes.TrimSpace(out))
	}
	return nil
}

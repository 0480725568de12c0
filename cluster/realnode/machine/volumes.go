package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Volumes are the data of PersistentVolumes in a machine's state, a folder for each, which all nodes share. A node
// makes the folder for the first pod that uses the volume.
type Volumes struct {
	State string // the machine's
}

// List names those that there are.
func (v Volumes) List() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(v.State, wire.VolumesFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the data of volumes: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Remove removes one, if it is there.
func (v Volumes) Remove(name string) error {
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return fmt.Errorf("remove the data of volume %q: %w", name, fs.ErrInvalid)
	}
	if err := removeBelow(v.State, filepath.Join(v.State, wire.VolumesFolder, name)); err != nil {
		return fmt.Errorf("remove the data of volume %s: %w", name, err)
	}
	return nil
}

package machine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Volumes are the data of PersistentVolumes: a folder for each in a machine's state, which all nodes share. A node
// makes the folder for the first pod with the volume.
type Volumes struct {
	State   string // the machine's state
	Program string // the path of slipway-container, for [RemoveAll]
}

// List returns the names of all volumes' folders, and of folders whose removal was interrupted.
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

// gone is the prefix of folders that are being removed. No volume's UID begins like that.
const gone = ".gone-"

// Remove removes a volume's data, if any. It first renames the folder: a reset may bring the volume back at any moment,
// and its folder then belongs to new pods. The new name is in the same folder, since a move out of it would need write
// permission on the pods' folder.
func (v Volumes) Remove(name string) error {
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return fmt.Errorf("remove the data of volume %q: %w", name, fs.ErrInvalid)
	}
	left, err := v.List()
	if err == nil {
		left, err = v.renameForRemoval(name, left)
	}
	for _, old := range left {
		err = errors.Join(err, RemoveAll(v.folder(old), v.Program))
	}
	if err != nil {
		return fmt.Errorf("remove the data of volume %s: %w", name, err)
	}
	return nil
}

// renameForRemoval renames a volume's folder. It returns the folders to remove: that one, and those that earlier
// attempts left.
func (v Volumes) renameForRemoval(name string, all []string) ([]string, error) {
	if strings.HasPrefix(name, gone) {
		return []string{name}, nil
	}
	left := slices.DeleteFunc(all, func(other string) bool { return !strings.HasPrefix(other, gone+name+"-") })
	now := gone + name + "-" + rand.Text()
	err := os.Rename(v.folder(name), v.folder(now))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return left, nil
	case err != nil:
		return left, err
	}
	return append(left, now), nil
}

func (v Volumes) folder(name string) string {
	return filepath.Join(v.State, wire.VolumesFolder, name)
}

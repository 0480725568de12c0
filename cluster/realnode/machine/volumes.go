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

// Volumes are the data of PersistentVolumes in a machine's state, a folder for each, which all nodes share. A node
// makes the folder for the first pod that uses the volume.
type Volumes struct {
	State   string // the machine's
	Program string // the path of slipway-container, for [RemoveAll]
}

// List names those that there are, and what is left of those whose removal was interrupted.
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

// gone begins the names of folders that are being removed; no volume has such a UID.
const gone = ".gone-"

// Remove removes one, if it is there. Its folder gets another name first: a reset may bring the volume back at any
// moment, and the folder of that name then belongs to new pods. The name is in the same folder because that needs no
// right to write to what pods own.
func (v Volumes) Remove(name string) error {
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return fmt.Errorf("remove the data of volume %q: %w", name, fs.ErrInvalid)
	}
	left, err := v.List()
	if err == nil {
		left, err = v.putAside(name, left)
	}
	for _, old := range left {
		err = errors.Join(err, RemoveAll(v.folder(old), v.Program))
	}
	if err != nil {
		return fmt.Errorf("remove the data of volume %s: %w", name, err)
	}
	return nil
}

// putAside renames a volume's folder. It returns what is to be removed: that, and what earlier attempts left.
func (v Volumes) putAside(name string, all []string) ([]string, error) {
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

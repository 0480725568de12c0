package isolated

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// mountPoint is a mount point of a container.
type mountPoint struct {
	path   string // in the image
	folder bool
}

// usual are the mount points that nearly every container has, whatever its pod asks for.
var (
	usualFolders = []string{"/dev", "/proc", "/sys"}
	usualMounts  = []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/var/run/secrets/kubernetes.io/serviceaccount"}
)

// addMountPointLayer adds a lower layer with the usual mount points. Otherwise the container's start would make each of
// them in the container's upper layer, which is the slowest part of a start. Containers with the same points share the
// layer. If there is no layer, and for all other mounts, the start makes the mount points.
func addMountPointLayer(c *wire.Container, dir string) error {
	points, err := pointsOf(*c)
	if err != nil {
		return err
	}
	tree := filepath.Join(dir, nameOf(points))
	if _, err := os.Stat(tree); err != nil && makePoints(tree, points) != nil {
		return nil // the start reports the cause if it matters
	}
	c.Lower = append(c.Lower, tree)
	return nil
}

// pointsOf returns the real paths of the mount points in the image, with links resolved.
func pointsOf(c wire.Container) (all []mountPoint, err error) {
	for _, path := range usualFolders {
		all = append(all, mountPoint{path, true})
	}
	for _, m := range c.Mounts {
		if !slices.Contains(usualMounts, m.Target) {
			continue
		}
		info, err := os.Stat(m.Source)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", m.Target, err)
		}
		all = append(all, mountPoint{m.Target, info.IsDir()})
	}
	for i := range all {
		at, err := containerinit.Within(c.Lower[0], all[i].path)
		if err != nil {
			return nil, err
		}
		all[i].path = strings.TrimPrefix(at, c.Lower[0])
	}
	slices.SortFunc(all, func(a, b mountPoint) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

func nameOf(points []mountPoint) string {
	sum := sha256.New()
	for _, p := range points {
		fmt.Fprintf(sum, "%q %t\n", p.path, p.folder)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:16])
}

// makePoints makes the layer's folder atomically.
func makePoints(tree string, points []mountPoint) error {
	if err := os.MkdirAll(filepath.Dir(tree), folderMode); err != nil {
		return err
	}
	begun, err := os.MkdirTemp(filepath.Dir(tree), "begun-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(begun)
	if err := os.Chmod(begun, folderMode); err != nil {
		return err
	}
	for _, p := range points {
		if err := p.make(begun); err != nil {
			return err
		}
	}
	if err := os.Rename(begun, tree); err != nil && !errors.Is(err, fs.ErrExist) { // another container has made it meanwhile
		return err
	}
	return nil
}

func (p mountPoint) make(root string) error {
	at := filepath.Join(root, p.path)
	if p.folder {
		return os.MkdirAll(at, folderMode)
	}
	if err := os.MkdirAll(filepath.Dir(at), folderMode); err != nil {
		return err
	}
	f, err := os.OpenFile(at, os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

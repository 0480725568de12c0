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

// point is what a container has something mounted on.
type point struct {
	path   string // in the image
	folder bool
}

// usual are the points that containers have whatever their pods ask for: folders by themselves, and mounts.
var (
	usualFolders = []string{"/dev", "/proc", "/sys"}
	usualMounts  = []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/var/run/secrets/kubernetes.io/serviceaccount"}
)

// layPoints lays a tree with the usual points below the image. Each of them would otherwise be made when the container
// starts, in the container's own layer, where that takes longest; containers with the same ones, as nearly all are,
// have the same tree. What a pod asks for besides is made at the start, as is all of it where there is no tree.
func layPoints(c *wire.Container, dir string) error {
	points, err := pointsOf(*c)
	if err != nil {
		return err
	}
	tree := filepath.Join(dir, nameOf(points))
	if _, err := os.Stat(tree); err != nil && makePoints(tree, points) != nil {
		return nil // the start says what is wrong, if it is anything that matters
	}
	c.Lower = append(c.Lower, tree)
	return nil
}

// pointsOf finds out where in the image the points are, by way of its links.
func pointsOf(c wire.Container) (all []point, err error) {
	for _, path := range usualFolders {
		all = append(all, point{path, true})
	}
	for _, m := range c.Mounts {
		if !slices.Contains(usualMounts, m.Target) {
			continue
		}
		info, err := os.Stat(m.Source)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", m.Target, err)
		}
		all = append(all, point{m.Target, info.IsDir()})
	}
	for i := range all {
		at, err := containerinit.Within(c.Lower[0], all[i].path)
		if err != nil {
			return nil, err
		}
		all[i].path = strings.TrimPrefix(at, c.Lower[0])
	}
	slices.SortFunc(all, func(a, b point) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

func nameOf(points []point) string {
	sum := sha256.New()
	for _, p := range points {
		fmt.Fprintf(sum, "%q %t\n", p.path, p.folder)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:16])
}

// makePoints makes a tree, which is there as a whole or not at all.
func makePoints(tree string, points []point) error {
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
	if err := os.Rename(begun, tree); err != nil && !errors.Is(err, fs.ErrExist) { // another container's, made meanwhile
		return err
	}
	return nil
}

func (p point) make(root string) error {
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

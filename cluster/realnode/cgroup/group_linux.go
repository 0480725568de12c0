package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// group is the cgroup of a container. With version 1 it has a folder in each hierarchy.
type group struct {
	unified bool
	dirs    map[string]string // by controller
}

func (t *Tree) group(name string) group {
	g := group{unified: t.unified, dirs: map[string]string{}}
	for controller, dir := range t.dirs {
		g.dirs[controller] = filepath.Join(dir, name)
	}
	return g
}

// folders returns the folders of the group, without duplicates.
func (g group) folders() []string {
	var all []string
	for _, dir := range g.dirs {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return all
}

func (g group) create() error {
	for _, dir := range g.folders() {
		if err := makeFolder(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// makeFolder makes a cgroup that other users, such as containers, can read, whatever the umask.
func makeFolder(path string) error {
	err := os.Mkdir(path, dirMode)
	if err == nil {
		err = os.Chmod(path, dirMode)
	}
	if err != nil {
		return fmt.Errorf("make a cgroup: %w", err)
	}
	return nil
}

// limitAndOpen sets the limits, and opens the files by which processes join the group.
func (g group) limitAndOpen(l wire.Limits) ([]*os.File, error) {
	if err := g.limit(l); err != nil {
		return nil, err
	}
	var files []*os.File
	for _, dir := range g.folders() {
		f, err := os.OpenFile(filepath.Join(dir, g.joinFile()), os.O_WRONLY, 0)
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
			return nil, fmt.Errorf("open a cgroup: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// joinFile returns the file that adds its writer to the group. With version 1 it adds a thread, which the kernel does
// at once, and a process has only one when it becomes another program. To add a whole process the kernel waits until no
// processor is forking, ten milliseconds and more. Version 2 has no other way.
func (g group) joinFile() string {
	if g.unified {
		return "cgroup.procs"
	}
	return "tasks"
}

func (g group) remove(patience time.Duration) error {
	var errs []error
	for _, dir := range g.folders() {
		errs = append(errs, containerinit.RemoveGroups(dir, patience))
	}
	return errors.Join(errs...)
}

func write(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = f.WriteString(value)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", value, err)
	}
	return nil
}

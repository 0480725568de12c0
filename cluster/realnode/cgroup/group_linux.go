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

// group is the cgroup of a container: with the first version one in each hierarchy.
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

// folders are those of the group, each once.
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

// makeFolder makes a cgroup which containers may look at that are other users. This process keeps new files to itself.
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

// begin limits the group and opens the files by which processes join it.
func (g group) begin(l wire.Limits) ([]*os.File, error) {
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

// joinFile takes whoever writes to it into the group. With the first version that is a thread, which is all that is
// left of a process when it becomes another program, and which the kernel moves at once. To move a process with all
// that it consists of it waits until no processor is beginning another one, ten milliseconds and more; with the second
// version there is no other way.
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

// write writes a value to one of a cgroup's files.
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

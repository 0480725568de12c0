package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// ErrForbidden says that no cgroups can be made here.
var ErrForbidden = errors.New("slipway cannot create cgroups here")

// The controllers that are used.
const (
	memory  = "memory"
	cpu     = "cpu"
	cpuTime = "cpuacct" // of the first version alone
	pids    = "pids"
)

// place is where the cluster's cgroups can be made.
type place struct {
	unified bool              // the second version
	parents map[string]string // by controller, the folder of the cgroup below which they lie
}

// findPlace finds it for the process whose folder of /proc is self.
func findPlace(self string) (place, error) {
	mounts, err := readMounts(filepath.Join(self, "mountinfo"))
	if err != nil {
		return place{}, err
	}
	own, err := readOwn(filepath.Join(self, "cgroup"))
	if err != nil {
		return place{}, err
	}
	if mounts.of(memory) != nil {
		return mounts.separate(own)
	}
	if m := mounts.unified(); m != nil {
		return m.unifiedPlace(own[""])
	}
	return place{}, fmt.Errorf("%w: no controller of memory is mounted", ErrForbidden)
}

// readOwn reads which cgroup a process is in, by controller; that of the second version has none.
func readOwn(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	own := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for name := range strings.SplitSeq(fields[1], ",") {
			own[name] = fields[2]
		}
	}
	return own, nil
}

// mount is a hierarchy that is mounted.
type mount struct {
	root, at    string
	controllers []string // of the first version
	second      bool
}

type mounts []mount

// readMounts reads the hierarchies out of a file like /proc/self/mountinfo.
func readMounts(file string) (mounts, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	var lines bytes.Buffer // one odd line of another file system would fail all
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(" - cgroup")) {
			lines.Write(line)
		}
	}
	found, err := mountinfo.GetMountsFromReader(&lines, mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	var all mounts
	for _, m := range found {
		all = append(all, mount{root: m.Root, at: m.Mountpoint, controllers: strings.Split(m.VFSOptions, ","), second: m.FSType == "cgroup2"})
	}
	return all, nil
}

func (all mounts) of(controller string) *mount {
	i := slices.IndexFunc(all, func(m mount) bool { return !m.second && slices.Contains(m.controllers, controller) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

func (all mounts) unified() *mount {
	i := slices.IndexFunc(all, func(m mount) bool { return m.second })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// folder is that of a cgroup, if the mount shows it.
func (m *mount) folder(path string) (string, error) {
	below, err := filepath.Rel(m.root, path)
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%w: the cgroup %s is not below %s, which is what is mounted on %s", ErrForbidden, path, m.root, m.at)
	}
	return filepath.Join(m.at, below), nil
}

// separate is the place of the first version: below the own cgroup of each controller. Without the one of memory there
// is none.
func (all mounts) separate(own map[string]string) (place, error) {
	p := place{parents: map[string]string{}}
	for _, controller := range []string{memory, cpu, cpuTime, pids} {
		m := all.of(controller)
		if m == nil {
			continue
		}
		dir, err := m.folder(own[controller])
		if err == nil {
			err = writable(dir)
		}
		switch {
		case err == nil:
			p.parents[controller] = dir
		case controller == memory:
			return place{}, fmt.Errorf("%w: %w", ErrForbidden, err)
		}
	}
	return p, nil
}

func writable(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return nil
}

package plain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"
)

// Mounts remembers what is to be mounted, and mounts nothing: volumes in memory are folders, as all others are.
type Mounts struct {
	mu  sync.Mutex
	all map[string]mount.MountPoint // by path
}

var _ mount.Interface = (*Mounts)(nil)

// NewMounts has none.
func NewMounts() *Mounts { return &Mounts{all: map[string]mount.MountPoint{}} }

// Mount remembers a mount.
func (m *Mounts) Mount(source, target, kind string, options []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[target] = mount.MountPoint{Device: source, Path: target, Type: kind, Opts: options}
	return nil
}

// MountSensitive is Mount.
func (m *Mounts) MountSensitive(source, target, kind string, options, _ []string) error {
	return m.Mount(source, target, kind, options)
}

// MountSensitiveWithoutSystemd is Mount.
func (m *Mounts) MountSensitiveWithoutSystemd(source, target, kind string, options, _ []string) error {
	return m.Mount(source, target, kind, options)
}

// MountSensitiveWithoutSystemdWithMountFlags is Mount.
func (m *Mounts) MountSensitiveWithoutSystemdWithMountFlags(source, target, kind string, options, _, _ []string) error {
	return m.Mount(source, target, kind, options)
}

// Unmount forgets a mount.
func (m *Mounts) Unmount(target string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, target)
	return nil
}

// List lists what is remembered.
func (m *Mounts) List() ([]mount.MountPoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []mount.MountPoint
	for _, p := range m.all {
		all = append(all, p)
	}
	return all, nil
}

// IsLikelyNotMountPoint says whether nothing was to be mounted there.
func (m *Mounts) IsLikelyNotMountPoint(path string) (bool, error) {
	is, err := m.IsMountPoint(path)
	return !is, err
}

// IsMountPoint says whether something was to be mounted there.
func (m *Mounts) IsMountPoint(path string) (bool, error) {
	if _, err := os.Stat(path); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.all[path]
	return ok, nil
}

// CanSafelySkipMountPointCheck says that unmounting what is not mounted does no harm.
func (m *Mounts) CanSafelySkipMountPointCheck() bool { return true }

// GetMountRefs knows of no other places of a mount.
func (m *Mounts) GetMountRefs(string) ([]string, error) { return nil, nil }

// Subpaths are folders of volumes as they are.
type Subpaths struct{}

var _ subpath.Interface = Subpaths{}

// CleanSubPaths has nothing to do.
func (Subpaths) CleanSubPaths(string, string) error { return nil }

// PrepareSafeSubpath is the folder or file itself, unless a link leads out of the volume.
func (Subpaths) PrepareSafeSubpath(s subpath.Subpath) (string, func(), error) {
	volume, err := filepath.EvalSymlinks(s.VolumePath)
	if err != nil {
		return "", nil, err
	}
	path, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return "", nil, err
	}
	if path != volume && !strings.HasPrefix(path, volume+string(filepath.Separator)) {
		return "", nil, fmt.Errorf("%s leads out of its volume", s.Path)
	}
	return path, func() {}, nil
}

// SafeMakeDir makes a folder below another one, out of which no link leads.
func (Subpaths) SafeMakeDir(folder, base string, mode os.FileMode) error {
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	relative, err := filepath.Rel(base, filepath.Join(base, strings.TrimPrefix(folder, base)))
	if err != nil {
		return err
	}
	return root.MkdirAll(relative, mode.Perm())
}

// Host knows of paths as the kubelet wants to, on every system.
type Host struct{ hostutil.HostUtils }

// NewHost returns it.
func NewHost() Host { return Host{hostutil.NewHostUtil()} }

// MakeRShared has nothing to do: nothing is mounted.
func (Host) MakeRShared(string) error { return nil }

// PathExists says whether something is there.
func (Host) PathExists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// GetMode reports the mode of what is there.
func (Host) GetMode(path string) (os.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Mode(), nil
}

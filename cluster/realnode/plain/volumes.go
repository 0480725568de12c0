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

// Mounts records mounts for the kubelet and mounts nothing. Volumes in memory are folders like all others.
type Mounts struct {
	mu  sync.Mutex
	all map[string]mount.MountPoint // by path
}

var _ mount.Interface = (*Mounts)(nil)

// NewMounts returns a Mounts without mounts.
func NewMounts() *Mounts { return &Mounts{all: map[string]mount.MountPoint{}} }

// Mount records a mount.
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

// List returns the recorded mounts, in no order.
func (m *Mounts) List() ([]mount.MountPoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []mount.MountPoint
	for _, p := range m.all {
		all = append(all, p)
	}
	return all, nil
}

// IsLikelyNotMountPoint reports whether no mount is recorded at path.
func (m *Mounts) IsLikelyNotMountPoint(path string) (bool, error) {
	is, err := m.IsMountPoint(path)
	return !is, err
}

// IsMountPoint reports whether a mount is recorded at path. The path must exist.
func (m *Mounts) IsMountPoint(path string) (bool, error) {
	if _, err := os.Stat(path); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.all[path]
	return ok, nil
}

// CanSafelySkipMountPointCheck returns true: to unmount an unknown path does no harm.
func (m *Mounts) CanSafelySkipMountPointCheck() bool { return true }

// GetMountRefs returns none: no folder has a second mount.
func (m *Mounts) GetMountRefs(string) ([]string, error) { return nil, nil }

// Subpaths uses folders of volumes directly, without bind mounts.
type Subpaths struct{}

var _ subpath.Interface = Subpaths{}

// CleanSubPaths does nothing.
func (Subpaths) CleanSubPaths(string, string) error { return nil }

// PrepareSafeSubpath returns the folder or file itself. It fails if a link leads out of the volume.
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

// SafeMakeDir makes a folder below base. It follows no link out of base.
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

// Host is the kubelet's HostUtils, with methods that work on every system.
type Host struct{ hostutil.HostUtils }

// NewHost returns a Host.
func NewHost() Host { return Host{hostutil.NewHostUtil()} }

// MakeRShared does nothing: nothing is mounted.
func (Host) MakeRShared(string) error { return nil }

// PathExists reports whether a file or link exists at path.
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

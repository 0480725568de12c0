package inside

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// container makes the root file system and becomes the container's first process.
func container() error {
	var c Container
	if err := handOnBelow(firstFile); err != nil {
		return err
	}
	if err := describe(FileDescription, &c); err != nil {
		return err
	}
	if err := join(c.Cgroups); err != nil {
		return err
	}
	if c.Cgroups > 0 {
		_ = unix.Unshare(unix.CLONE_NEWCGROUP) // if it is not allowed, there is nothing to see
	}
	if err := c.enterRoot(); err != nil {
		return err
	}
	if c.Hostname != "" {
		if err := unix.Sethostname([]byte(c.Hostname)); err != nil {
			return fmt.Errorf("set the hostname: %w", err)
		}
	}
	if c.Terminal {
		if err := ownTerminal(); err != nil {
			return err
		}
	}
	return c.become()
}

// enterRoot builds the root file system and makes it the process's only one.
func (c *Container) enterRoot() error {
	// "userxattr" is the kind that needs no rights beyond the user namespace's.
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", strings.Join(c.Lower, ":"), c.Upper, c.Work)
	for _, m := range []mount{
		{what: "keep mounts to the container", target: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{what: "lay a file system over the image's", source: "overlay", target: c.Root, kind: "overlay", data: options},
	} {
		if err := m.make(); err != nil {
			return err
		}
	}
	for _, step := range []func() error{c.system, c.volumes, c.workingFolder, c.mask, c.pivot} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// mount is a call of mount(2).
type mount struct {
	what, source, target, kind string
	flags                      uintptr
	data                       string
}

func (m mount) make() error {
	if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
		return fmt.Errorf("%s: %w", m.what, err)
	}
	return nil
}

const (
	folderMode = 0o755
	fileMode   = 0o644
	plain      = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
)

// folder is one of the container's, made if need be.
func (c *Container) folder(path string) (string, error) {
	at, err := Within(c.Root, path)
	if err == nil {
		err = os.MkdirAll(at, folderMode)
	}
	if err != nil {
		return "", fmt.Errorf("make %s: %w", path, err)
	}
	return at, nil
}

// system mounts what the kernel has to show.
func (c *Container) system() error {
	proc, err := c.folder("/proc")
	if err != nil {
		return err
	}
	sys, err := c.folder("/sys")
	if err != nil {
		return err
	}
	dev, err := c.folder("/dev")
	if err != nil {
		return err
	}
	for _, m := range []mount{
		{"mount /proc", "proc", proc, "proc", plain, ""},
		{"mount /sys", "/sys", sys, "", unix.MS_BIND | unix.MS_REC, ""},
		{"mount /dev", "tmpfs", dev, "tmpfs", unix.MS_NOSUID | unix.MS_STRICTATIME, "mode=755,size=65536k"},
	} {
		if err := m.make(); err != nil {
			return err
		}
	}
	if c.Cgroups > 0 {
		showCgroups(filepath.Join(sys, "fs/cgroup"))
	}
	return c.devices(dev)
}

func (c *Container) devices(dev string) error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		at := filepath.Join(dev, name)
		if err := os.WriteFile(at, nil, fileMode); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
		if err := (mount{"show /dev/" + name, "/dev/" + name, at, "", unix.MS_BIND, ""}).make(); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(to, filepath.Join(dev, name)); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
	}
	for _, m := range []mount{
		{"mount /dev/pts", "devpts", filepath.Join(dev, "pts"), "devpts", unix.MS_NOSUID | unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"},
		{"mount /dev/shm", "shm", filepath.Join(dev, "shm"), "tmpfs", plain, "mode=1777,size=65536k"},
		{"mount /dev/mqueue", "mqueue", filepath.Join(dev, "mqueue"), "mqueue", plain, ""},
	} {
		if err := os.Mkdir(m.target, folderMode); err != nil {
			return fmt.Errorf("make %s: %w", m.target, err)
		}
		if err := m.make(); err != nil && m.kind != "mqueue" { // not every kernel has those
			return err
		}
	}
	return nil
}

// volumes shows the files and folders that the pod brings.
func (c *Container) volumes() error {
	for _, v := range c.Mounts {
		if err := c.show(v); err != nil {
			return fmt.Errorf("mount %s: %w", v.Target, err)
		}
	}
	return nil
}

func (c *Container) show(v Mount) error {
	info, err := os.Stat(v.Source)
	if err != nil {
		return err
	}
	at, err := Within(c.Root, v.Target)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := os.MkdirAll(at, folderMode); err != nil {
			return err
		}
	} else if err := makeFile(at); err != nil {
		return err
	}
	if err := unix.Mount(v.Source, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if v.ReadOnly {
		return readOnly(at)
	}
	return nil
}

func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// readOnly remounts what is mounted there. Flags that are locked, as mounts from outside of the user namespace have them, must stay.
func readOnly(path string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return err
	}
	const locked = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
	flags |= uintptr(s.Flags) & locked
	if s.Flags&unix.ST_RELATIME != 0 {
		flags |= unix.MS_RELATIME
	}
	return unix.Mount("", path, "", flags, "")
}

// workingFolder makes the folder that the process is to begin in, where the image has none.
func (c *Container) workingFolder() error {
	_, err := c.folder(c.Dir)
	return err
}

// mask takes away or protects what the runtime's defaults name.
func (c *Container) mask() error {
	for _, path := range c.Masked {
		at, err := Within(c.Root, path)
		if err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			continue // not there
		case info.IsDir():
			err = unix.Mount("tmpfs", at, "tmpfs", unix.MS_RDONLY, "size=0")
		default:
			err = unix.Mount("/dev/null", at, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	for _, path := range c.ReadOnly {
		at, err := Within(c.Root, path)
		if err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
		if _, err := os.Lstat(at); err != nil {
			continue
		}
		if err := unix.Mount(at, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
		if err := readOnly(at); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	return nil
}

// pivot leaves the node's files behind.
func (c *Container) pivot() error {
	for _, step := range []func() error{
		func() error { return unix.Chdir(c.Root) },
		func() error { return unix.PivotRoot(".", ".") },
		func() error { return unix.Unmount(".", unix.MNT_DETACH) },
		func() error { return unix.Chdir("/") },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("change the root: %w", err)
		}
	}
	if !c.ReadOnlyRoot {
		return nil
	}
	if err := readOnly("/"); err != nil {
		return fmt.Errorf("protect the root: %w", err)
	}
	return nil
}

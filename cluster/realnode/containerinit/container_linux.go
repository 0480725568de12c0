package containerinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// containerSpec is a [wire.Container] with the steps that make it.
type containerSpec wire.Container

// container makes the root file system and becomes the container's first process.
func container() error {
	var c containerSpec
	if err := closeOnExecFrom(firstFile); err != nil {
		return err
	}
	if err := describe(wire.FileDescription, &c); err != nil {
		return err
	}
	if err := join(c.Cgroups); err != nil {
		return err
	}
	if c.Cgroups > 0 {
		_ = unix.Unshare(unix.CLONE_NEWCGROUP) // if it is not allowed, the container sees no cgroups
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
	return (*processSpec)(&c.Process).become()
}

// enterRoot builds the root file system and makes it the only one that the process sees.
func (c *containerSpec) enterRoot() error {
	// userxattr lets overlayfs work with the rights of a user namespace (kernel docs, overlayfs).
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", strings.Join(c.Lower, ":"), c.Upper, c.Work)
	for _, m := range []mount{
		{what: "keep mounts to the container", target: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{what: "lay a file system over the image's", source: "overlay", target: c.Root, kind: "overlay", data: options},
	} {
		if err := m.make(); err != nil {
			return err
		}
	}
	if err := c.furnish(); err != nil {
		return err
	}
	return c.pivot()
}

func (c *containerSpec) furnish() error {
	t, err := newTree(c.Root)
	if err != nil {
		return err
	}
	defer t.close()
	for _, step := range []func(*tree) error{c.system, c.volumes, c.workingFolder, c.mask} {
		if err := step(t); err != nil {
			return err
		}
	}
	return nil
}

// mount has the arguments of mount(2).
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

// systemFolders must be real folders in the image, not links: masked paths below them are hidden by these names.
var systemFolders = []string{"proc", "sys", "dev"}

// system mounts the kernel's file systems and devices.
func (c *containerSpec) system(t *tree) error {
	for _, name := range systemFolders {
		fd, err := step(t.root, name, makeFolder)
		if errors.Is(err, unix.ELOOP) {
			return fmt.Errorf("the image has a link in place of the folder /%s: %w", name, err)
		}
		if err != nil {
			return fmt.Errorf("make /%s: %w", name, err)
		}
		_ = unix.Close(fd)
	}
	proc, sys, dev := filepath.Join(c.Root, "proc"), filepath.Join(c.Root, "sys"), filepath.Join(c.Root, "dev")
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

func (c *containerSpec) devices(dev string) error {
	if err := showDevices(dev); err != nil {
		return err
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
		if c.has(strings.TrimPrefix(m.target, c.Root)) {
			continue
		}
		if err := os.Mkdir(m.target, folderMode); err != nil {
			return fmt.Errorf("make %s: %w", m.target, err)
		}
		if err := m.make(); err != nil && m.kind != "mqueue" { // some kernels lack it
			return err
		}
	}
	return nil
}

// has reports whether the pod mounts something at a path, such as its shared memory.
func (c *containerSpec) has(path string) bool {
	return slices.ContainsFunc(c.Mounts, func(v wire.Mount) bool { return v.Target == path })
}

// volumes mounts the pod's volumes and files.
func (c *containerSpec) volumes(t *tree) error {
	for _, v := range c.Mounts {
		if err := t.show(v); err != nil {
			return fmt.Errorf("mount %s: %w", v.Target, err)
		}
	}
	return nil
}

var errCovered = errors.New("a volume cannot cover /, /proc or anything in /proc")

// show mounts a volume. Its source must contain no links: the node resolved them.
func (t *tree) show(v wire.Mount) error {
	source, err := openBelow(unix.AT_FDCWD, v.Source, 0, unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return fmt.Errorf("open its source: %w", err)
	}
	defer unix.Close(source)
	var s unix.Stat_t
	if err := unix.Fstat(source, &s); err != nil {
		return err
	}
	open := t.file
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		open = t.folder
	}
	at, err := open(v.Target)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if err := t.coverable(at); err != nil {
		return err
	}
	mounted, err := bind(source, at)
	if err != nil {
		return err
	}
	defer unix.Close(mounted)
	if v.ReadOnly {
		return readOnly(asPath(mounted))
	}
	return nil
}

// coverable returns an error if nothing may be mounted on the open file. With a mount in it /proc would deceive
// programs, and the code that hides parts of it.
func (t *tree) coverable(at int) error {
	proc, err := isProc(at)
	if err != nil {
		return err
	}
	var s, root unix.Stat_t
	if err := errors.Join(unix.Fstat(at, &s), unix.Fstat(t.root, &root)); err != nil {
		return err
	}
	if proc || s.Dev == root.Dev && s.Ino == root.Ino {
		return errCovered
	}
	return nil
}

// readOnly remounts a mount as read-only. It keeps locked flags, which mounts from outside the user namespace have.
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

// workingFolder makes the process's working folder if the image lacks it.
func (c *containerSpec) workingFolder(t *tree) error {
	fd, err := t.folder("/" + c.Dir)
	if err != nil {
		return fmt.Errorf("make the working folder %s: %w", c.Dir, err)
	}
	return unix.Close(fd)
}

// mask hides and protects the paths of the runtime's defaults.
func (c *containerSpec) mask(t *tree) error {
	null, err := openBelow(unix.AT_FDCWD, "/dev/null", 0, unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	defer unix.Close(null)
	for _, path := range c.Masked {
		if err := t.at(path, func(fd int) error { return hide(fd, null) }); err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	for _, path := range c.ReadOnly {
		if err := t.at(path, protect); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	return nil
}

// at calls do with the open file at path, if it exists.
func (t *tree) at(path string, do func(fd int) error) error {
	fd, err := t.open(path, 0)
	if notThere(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

// notThere reports whether the container cannot reach a file: what this process cannot find with all rights, no process
// of the container can.
func notThere(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)
}

func hide(fd, null int) error {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.Mount("tmpfs", asPath(fd), "tmpfs", unix.MS_RDONLY, "size=0")
	}
	mounted, err := bind(null, fd)
	if err != nil {
		return err
	}
	return unix.Close(mounted)
}

func protect(fd int) error {
	mounted, err := bind(fd, fd)
	if err != nil {
		return err
	}
	defer unix.Close(mounted)
	return readOnly(asPath(mounted))
}

// pivot makes the container's root the only file system. It is read-only if the container asks for that.
func (c *containerSpec) pivot() error {
	if err := pivot(c.Root); err != nil {
		return err
	}
	if !c.ReadOnlyRoot {
		return nil
	}
	if err := readOnly("/"); err != nil {
		return fmt.Errorf("protect the root: %w", err)
	}
	return nil
}

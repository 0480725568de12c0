package containerinit

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is a container's root file system while it is made. Another container of the pod may run already and change
// shared volumes at any time: a path can lead elsewhere between check and use. So the kernel opens each path once,
// below the tree's root, and mounts go onto what it opened.
type tree struct {
	path string
	root int
}

func newTree(path string) (*tree, error) {
	root, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open the container's root: %w", err)
	}
	return &tree{path, root}, nil
}

// close must come before the process enters a folder of the container: links in /proc/PID/fd lead to its open files.
func (t *tree) close() { _ = unix.Close(t.root) }

// open opens an existing path with O_PATH.
func (t *tree) open(path string, flags uint64) (int, error) {
	return openBelow(t.root, path, flags, unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_MAGICLINKS)
}

// patience bounds the attempts to open a path while other processes rename folders on the way.
const patience = 1000

// openBelow opens with O_PATH: the file can be located, but neither read nor written.
func openBelow(dir int, path string, flags, resolve uint64) (fd int, err error) {
	for range patience {
		fd, err = unix.Openat2(dir, path, &unix.OpenHow{Flags: flags | unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve})
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return fd, err
}

// folder opens a folder, and makes it if needed.
func (t *tree) folder(path string) (int, error) {
	fd, err := t.open(path, unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		return t.make(path, makeFolder)
	}
	return fd, err
}

// file opens a file, and makes it if needed.
func (t *tree) file(path string) (int, error) {
	fd, err := t.open(path, 0)
	if errors.Is(err, unix.ENOENT) {
		return t.make(path, makeFile)
	}
	return fd, err
}

// maker makes an entry in a folder. It fails if one exists.
type maker func(dir int, name string) error

func makeFolder(dir int, name string) error { return unix.Mkdirat(dir, name, folderMode) }

func makeFile(dir int, name string) error {
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// make makes an entry and the folders above it. It first resolves the path, and then opens it step by step without
// following links. So a link that appears meanwhile is an error.
func (t *tree) make(path string, last maker) (int, error) {
	at, err := Within(t.path, path)
	if err != nil {
		return -1, err
	}
	dir, err := unix.FcntlInt(uintptr(t.root), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	parts := strings.Split(strings.Trim(strings.TrimPrefix(at, t.path), "/"), "/")
	for i, name := range parts {
		make := makeFolder
		if i == len(parts)-1 {
			make = last
		}
		next, err := step(dir, name, make)
		_ = unix.Close(dir)
		if err != nil {
			return -1, err
		}
		dir = next
	}
	return dir, nil
}

// step opens an entry in a folder, and makes it if needed.
func step(dir int, name string, make maker) (int, error) {
	const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS
	fd, err := openBelow(dir, name, 0, resolve)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	if err := make(dir, name); err != nil && !errors.Is(err, unix.EEXIST) {
		return -1, err
	}
	return openBelow(dir, name, 0, resolve)
}

// asPath returns a path of an open file. It stays valid when names in the real path change.
func asPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// bind mounts one open file on another, with the mounts below it. It returns the new mount.
func bind(source, at int) (int, error) {
	mount, err := unix.OpenTree(source, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return -1, err
	}
	if err := unix.MoveMount(mount, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		_ = unix.Close(mount)
		return -1, err
	}
	return mount, nil
}

// isProc reports whether an open file is in a proc file system.
func isProc(fd int) (bool, error) {
	var s unix.Statfs_t
	err := unix.Fstatfs(fd, &s)
	return s.Type == unix.PROC_SUPER_MAGIC, err
}

package containerinit

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is a container's root file system while it is being made. Another container of the pod may run already, and
// change at any moment what is in volumes that both have: a path that was looked at may lead elsewhere when it is used.
// So the kernel opens each path once, as if the tree's root were the root, and what is mounted there is mounted on what
// was opened.
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

// close must come before the process enters any folder of the container's: a link of /proc leads to what it has open.
func (t *tree) close() { _ = unix.Close(t.root) }

// open opens what is there already.
func (t *tree) open(path string, flags uint64) (int, error) {
	return openBelow(t.root, path, flags, unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_MAGICLINKS)
}

// patience is how often something is opened again while others rename folders on the way.
const patience = 1000

// openBelow opens no more than a place: nothing can be read or written by it.
func openBelow(dir int, path string, flags, resolve uint64) (fd int, err error) {
	for range patience {
		fd, err = unix.Openat2(dir, path, &unix.OpenHow{Flags: flags | unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve})
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return fd, err
}

// folder opens a folder, made if need be.
func (t *tree) folder(path string) (int, error) {
	fd, err := t.open(path, unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		return t.make(path, makeFolder)
	}
	return fd, err
}

// file opens a file, made if need be.
func (t *tree) file(path string) (int, error) {
	fd, err := t.open(path, 0)
	if errors.Is(err, unix.ENOENT) {
		return t.make(path, makeFile)
	}
	return fd, err
}

// maker makes what has that name in a folder, unless something has.
type maker func(dir int, name string) error

func makeFolder(dir int, name string) error { return unix.Mkdirat(dir, name, folderMode) }

func makeFile(dir int, name string) error {
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// make makes something, with the folders that lead there. The way is found first, and then gone without following a
// link: where one has come meanwhile that is an error.
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

// step opens what has that name in a folder, made if need be.
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

// asPath is a path of something that is open. It leads there, whatever has become of the names on the way.
func asPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// bind shows, at one place that is open, what is at another one, with what is mounted below it. It returns the new
// mount.
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

// isProc says whether something is in what the kernel says of processes.
func isProc(fd int) (bool, error) {
	var s unix.Statfs_t
	err := unix.Fstatfs(fd, &s)
	return s.Type == unix.PROC_SUPER_MAGIC, err
}

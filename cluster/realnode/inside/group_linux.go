package inside

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// join moves this process into the cgroups whose lists of processes it has inherited, from [FileGroups] on.
func join(groups int) error {
	for fd := FileGroups; fd < FileGroups+groups; fd++ {
		_, err := unix.Write(fd, []byte("0")) // this process, whatever its number is to whom
		_ = unix.Close(fd)
		if err != nil {
			return fmt.Errorf("join the container's cgroup: %w", err)
		}
	}
	return nil
}

// sweep waits until its stdin ends, as it does with the cluster's process however that ends, and removes the cgroups that are named.
func sweep() error {
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte("slipway-sweep\x00")[0])), 0, 0, 0); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // a failure is its end, too
	var errs []error
	for _, path := range os.Args[2:] {
		errs = append(errs, RemoveGroups(path, sweepPatience))
	}
	return errors.Join(errs...)
}

// sweepPatience is how long is waited for processes that are being ended.
const sweepPatience = 30 * time.Second

// RemoveGroups removes a cgroup with those below it. As long as processes are in one it cannot be removed, and they are waited for.
func RemoveGroups(path string, patience time.Duration) error {
	const pause = 2 * time.Millisecond
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		err := removeGroups(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.ENOTEMPTY) || !time.Now().Before(deadline) {
			return fmt.Errorf("remove cgroup %s: %w", path, err)
		}
	}
}

// removeGroups goes from the leaves up: a cgroup's folder is removed with its files, and only without other folders.
func removeGroups(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeGroups(filepath.Join(path, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return unix.Rmdir(path)
}

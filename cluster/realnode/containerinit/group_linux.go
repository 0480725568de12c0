package containerinit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// join moves this thread, which becomes the program, into the cgroups whose files it inherits from [FileGroups] on.
func join(groups int) error {
	for fd := wire.FileGroups; fd < wire.FileGroups+groups; fd++ {
		_, err := unix.Write(fd, []byte("0")) // 0 means the writer itself
		_ = unix.Close(fd)
		if err != nil {
			return fmt.Errorf("join the container's cgroup: %w", err)
		}
	}
	return nil
}

// sweep waits for the end of its stdin, which ends with the cluster's process. Then it removes the cgroups in its
// arguments.
func sweep() error {
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte("slipway-sweep\x00")[0])), 0, 0, 0); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // a failure means the end, too
	var errs []error
	for _, path := range os.Args[2:] {
		errs = append(errs, RemoveGroups(path, sweepPatience))
	}
	return errors.Join(errs...)
}

// sweepPatience bounds the wait for killed processes to end.
const sweepPatience = 30 * time.Second

// RemoveGroups removes a cgroup and those below it. While processes are in one, it tries again until patience is over.
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

// removeGroups removes a cgroup after those below it. rmdir removes a cgroup's files too, but not folders.
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

// showCgroups mounts the container's own cgroups at a path, because programs read their limits there. It needs a cgroup
// namespace. If the kernel refuses, the container sees none.
func showCgroups(at string) {
	text, err := os.ReadFile("/proc/thread-self/cgroup")
	if err != nil {
		return
	}
	const flags = plain | unix.MS_RDONLY
	hierarchies := hierarchiesIn(string(text))
	if len(hierarchies) == 0 {
		_ = unix.Mount("cgroup2", at, "cgroup2", flags, "")
		return
	}
	if unix.Mount("tmpfs", at, "tmpfs", plain, "mode=755,size=64k") != nil {
		return
	}
	for _, controllers := range hierarchies {
		dir := filepath.Join(at, controllers)
		if os.Mkdir(dir, folderMode) == nil {
			_ = unix.Mount("cgroup", dir, "cgroup", flags, controllers)
		}
	}
}

// hierarchiesIn returns the controllers of the version 1 hierarchies that limit containers.
func hierarchiesIn(cgroups string) (all []string) {
	for line := range strings.Lines(cgroups) {
		fields := strings.SplitN(line, ":", 3)
		for controller := range strings.SplitSeq(fields[min(1, len(fields)-1)], ",") {
			if slices.Contains([]string{"memory", "cpu", "cpuacct", "pids"}, controller) {
				all = append(all, fields[1])
				break
			}
		}
	}
	return all
}

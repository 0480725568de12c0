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

// join moves this thread, which is to become the program, into the cgroups whose lists it has inherited, from
// [FileGroups] on.
func join(groups int) error {
	for fd := wire.FileGroups; fd < wire.FileGroups+groups; fd++ {
		_, err := unix.Write(fd, []byte("0")) // oneself, whatever one's number is to whom
		_ = unix.Close(fd)
		if err != nil {
			return fmt.Errorf("join the container's cgroup: %w", err)
		}
	}
	return nil
}

// sweep waits until its stdin ends, as it does with the cluster's process however that ends, and removes the cgroups
// that are named.
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

// RemoveGroups removes a cgroup with those below it. As long as processes are in one it cannot be removed, and they are
// waited for.
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

// showCgroups shows a container its own cgroups, of which it is in the namespace: programs look there for how much they
// may use. Where the kernel refuses that, they see none, as they do on systems without.
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

// hierarchiesIn are those of the first version that limit containers, by their controllers.
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

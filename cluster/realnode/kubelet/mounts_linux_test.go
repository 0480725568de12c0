package kubelet

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMounts: volumes are mounted with their options and without any program, and unmounted.
func TestMounts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("an ordinary user mounts in namespaces alone, as a node is in")
	}
	runtime.LockOSThread() // the thread is thrown away, with what is mounted
	if err := errors.Join(unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	dir, m := t.TempDir(), newMounts()
	memory, shown := filepath.Join(dir, "memory"), filepath.Join(dir, "shown")
	if err := errors.Join(os.Mkdir(memory, 0o755), os.Mkdir(shown, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := m.Mount("tmpfs", memory, "tmpfs", []string{"size=1048576", "noexec"}); err != nil {
		t.Fatal(err)
	}
	if err := m.MountSensitiveWithoutSystemdWithMountFlags(memory, shown, "", []string{"bind", "ro"}, nil, []string{"--no-canonicalize"}); err != nil {
		t.Fatal(err)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(memory, &s); err != nil || s.Blocks*uint64(s.Bsize) != 1<<20 || s.Flags&unix.ST_NOEXEC == 0 || s.Flags&unix.ST_RDONLY != 0 {
		t.Errorf("in memory: %d blocks of %d, flags %#x (%v)", s.Blocks, s.Bsize, s.Flags, err)
	}
	if err := os.WriteFile(filepath.Join(memory, "file"), nil, 0o600); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(shown, "file"), nil, 0o600); !errors.Is(err, unix.EROFS) {
		t.Errorf("written where it is read-only: %v", err)
	}
	for _, target := range []string{shown, memory} {
		if err := m.Unmount(target); err != nil {
			t.Error(err)
		}
		if is, err := m.IsLikelyNotMountPoint(target); err != nil || !is {
			t.Errorf("%s is mounted: %v", target, err)
		}
	}
}

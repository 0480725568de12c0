package containerinit

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// swap exchanges two names again and again until the test ends.
func swap(t *testing.T, a, b string) {
	t.Helper()
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
				stopped <- err
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// TestSwappedMeanwhile: as another container exchanges a folder of a volume for a link that leads out of the root
// (CVE-2021-30465, CVE-2024-45310), nothing is made and nothing is opened outside.
func TestSwappedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	outside, root := filepath.Join(dir, "outside"), filepath.Join(dir, "root")
	for _, folder := range []string{outside, filepath.Join(outside, "old"), filepath.Join(root, "volume", "sub", "old"), filepath.Join(root, "outside")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(root, "volume", "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	tree, err := newTree(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.close()
	swap(t, filepath.Join(root, "volume", "sub"), link)
	var forbidden unix.Stat_t
	if err := unix.Stat(filepath.Join(outside, "old"), &forbidden); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		opened := checkedOpen(t, tree.folder, "/volume/sub/old")
		if opened.Ino == forbidden.Ino {
			t.Fatal("a folder outside of the root was opened")
		}
		checkedOpen(t, tree.folder, "/volume/sub/new"+strconv.Itoa(i))
		checkedOpen(t, tree.file, "/volume/sub/file"+strconv.Itoa(i))
	}
	if made, err := os.ReadDir(outside); err != nil || len(made) != 1 {
		t.Errorf("outside of the root: %v (%v)", made, err)
	}
}

// checkedOpen opens something, or finds that the way has changed.
func checkedOpen(t *testing.T, open func(string) (int, error), path string) (s unix.Stat_t) {
	t.Helper()
	fd, err := open(path)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOTDIR) {
		return s
	}
	if err == nil {
		err = errors.Join(unix.Fstat(fd, &s), unix.Close(fd))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTree: links lead to places in the root, what is missing is made, and the kernel's links to what a process has
// open lead nowhere.
func TestTree(t *testing.T) {
	root := t.TempDir()
	for name, to := range map[string]string{"run": "/var/run", "up": "../../..", "self": "/proc/self/root"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := newTree(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.close()
	for _, test := range []struct {
		open       func(string) (int, error)
		path, want string
	}{
		{tree.folder, "/run/app/data", "var/run/app/data"}, {tree.file, "/up/etc/hosts", "etc/hosts"}, {tree.folder, "/", ""},
		{tree.folder, "/run/app/data", "var/run/app/data"}, {tree.file, "etc/../x/../etc/hosts", "etc/hosts"}, {tree.folder, "/self/below", "proc/self/root/below"},
	} {
		fd, err := test.open(test.path)
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		if at, err := os.Readlink(asPath(fd)); err != nil || at != filepath.Join(root, test.want) {
			t.Errorf("%s is %s (%v), want %s", test.path, at, err, test.want)
		}
		_ = unix.Close(fd)
	}
	whole, err := newTree("/")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.close()
	if _, err := whole.folder("/proc/self/root/etc"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("by way of a process's root: %v", err)
	}
}

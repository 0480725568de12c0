//go:build unix

package removetree_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/removetree"
)

const (
	folderVariable = "REMOVETREE_FOLDER"
	openFiles      = 160
)

// TestMain is the test itself or, with a folder in the environment, a process that may open few files and removes it.
func TestMain(m *testing.M) {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		os.Exit(m.Run())
	}
	limit := syscall.Rlimit{Cur: openFiles, Max: openFiles}
	if err := errors.Join(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit), removetree.All(folder)); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// dig makes folders within each other below an open one, which it closes. It returns the last one, open.
func dig(t *testing.T, at, depth int, outside string) int {
	t.Helper()
	for level := range depth {
		if level%20 == 0 {
			furnish(t, at, outside)
		}
		next := below(t, at, "b")
		if err := unix.Close(at); err != nil {
			t.Fatal(err)
		}
		at = next
	}
	return at
}

// furnish puts a file and a link into an open folder.
func furnish(t *testing.T, at int, outside string) {
	t.Helper()
	file, err := unix.Openat(at, "file", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err == nil {
		err = unix.Close(file)
	}
	if err := errors.Join(err, unix.Symlinkat(outside, at, "link")); err != nil {
		t.Fatal(err)
	}
}

// below makes a folder in an open one, and opens it.
func below(t *testing.T, at int, name string) int {
	t.Helper()
	if err := unix.Mkdirat(at, name, 0o700); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func openFolder(t *testing.T, path string) int {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestDeeperThanOpenFiles: a process that may open few files removes a tree with more levels. It follows no link there.
func TestDeeperThanOpenFiles(t *testing.T) {
	dir := t.TempDir()
	outside, tree := filepath.Join(dir, "outside"), filepath.Join(dir, "tree")
	write(t, filepath.Join(outside, "folder", "file"))
	fork := dig(t, openFolder(t, tree), 150, outside)
	other := below(t, fork, "c")
	for _, end := range []int{dig(t, fork, 3000, outside), dig(t, other, 500, outside)} {
		if err := unix.Close(end); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), folderVariable+"="+tree)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %.300s", err, out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "folder", "file")); err != nil {
		t.Error(err)
	}
	if err := removetree.All(tree); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestAsRemoveAll: what is not deep goes as with os.RemoveAll.
func TestAsRemoveAll(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	write(t, filepath.Join(outside, "file"))
	for i := range 1100 { // more names than are read at once
		write(t, filepath.Join(dir, "wide", fmt.Sprint(i%7), fmt.Sprint(i)))
		write(t, filepath.Join(dir, "wide", fmt.Sprint("file", i)))
	}
	write(t, filepath.Join(dir, "file"))
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "empty"), 0)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"wide/", "file", "link", "empty", "absent", "absent/below"} {
		if err := removetree.All(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
		t.Error(err)
	}
	t.Chdir(dir)
	for _, path := range []string{"outside/..", "."} {
		if err := removetree.All(path); err == nil {
			t.Errorf("%s was removed", path)
		}
	}
}

// TestWhatStays: what cannot be removed is an error with its path, and all else goes.
func TestWhatStays(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may remove everything")
	}
	dir := t.TempDir()
	closed := filepath.Join(dir, "tree", "b", "closed")
	write(t, filepath.Join(closed, "file"))
	write(t, filepath.Join(dir, "tree", "a", "file"))
	write(t, filepath.Join(dir, "tree", "c", "file"))
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(closed, 0o700)
	err := removetree.All(filepath.Join(dir, "tree"))
	p, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrPermission) || p.Path != filepath.Join(closed, "file") {
		t.Errorf("the error is %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tree")); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}

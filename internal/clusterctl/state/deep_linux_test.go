package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDeepFoldersOfPods: what a pod has made may have more levels than this process may open files.
func TestDeepFoldersOfPods(t *testing.T) {
	c := cluster(t, t.TempDir())
	if err := os.MkdirAll(filepath.Join(c.Dir, "nodes", ".volumes", "uid", strings.Repeat("b/", 500)), 0o700); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := syscall.Rlimit{Cur: 160, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}()
	if ok, err := c.Remove(); !ok || err != nil {
		t.Errorf("%v, %.200v", ok, err)
	}
	if _, err := os.Lstat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("the state is still there: %v", err)
	}
}

package cri

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// openFew lets this process open few files until the test ends.
func openFew(t *testing.T) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := syscall.Rlimit{Cur: 160, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
}

// TestDeepFoldersOfContainers: a container's folders may have more levels than the node may open files.
func TestDeepFoldersOfContainers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runtime")
	deep := func(folder string) {
		if err := os.MkdirAll(filepath.Join(folder, strings.Repeat("b/", 500)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	deep(filepath.Join(dir, containersFolder, "old"))
	openFew(t)
	r, err := New(Options{Dir: dir})
	if err != nil {
		t.Fatalf("%.200v", err)
	}
	defer r.stream.Stop()
	c := &container{id: "c", sandbox: &sandbox{}, config: &runtimeapi.ContainerConfig{}, dir: filepath.Join(dir, containersFolder, "c")}
	r.containers[c.id] = c
	deep(c.dir)
	if err := r.RemoveContainer(t.Context(), c.id); err != nil {
		t.Errorf("%.200v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, containersFolder)); len(left) > 0 || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
}

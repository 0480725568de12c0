package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
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

// TestDeepFoldersOfPods: a pod's folders may have more levels than the cluster's process may open files.
func TestDeepFoldersOfPods(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for _, folder := range []string{filepath.Join(wire.VolumesFolder, "uid"), "node"} {
		if err := os.MkdirAll(filepath.Join(state, folder, strings.Repeat("b/", 500)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	openFew(t)
	volumes := machine.Volumes{State: state}
	if err := volumes.Remove("uid"); err != nil {
		t.Errorf("a volume: %.200v", err)
	}
	if left, err := volumes.List(); len(left) > 0 || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := machine.RemoveAll(state, ""); err != nil {
		t.Errorf("a machine's state: %.200v", err)
	}
	if _, err := os.Lstat(state); !os.IsNotExist(err) {
		t.Errorf("the state is still there: %v", err)
	}
}

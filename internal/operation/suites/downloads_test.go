package suites

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/operation/operationtest"
)

// TestStaysWithin: a link in a project leads nowhere else.
func TestStaysWithin(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	operationtest.Write(t, root, "bin/k8s/a", "")
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]bool{"bin/k8s": true, "new/k8s": true, "out": false, "out/k8s": false, "../x": false, ".": true} {
		if got := staysWithin(root, filepath.Join(root, filepath.FromSlash(path))); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if missing := filepath.Join(outside, "none"); !staysWithin(missing, filepath.Join(missing, "k8s")) {
		t.Error("a folder that does not exist yet")
	}
}

package safefs_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/internal/safefs"
)

func TestFree(t *testing.T) {
	if free, known := safefs.FreeSpace(t.TempDir()); known && free == 0 {
		t.Error("a folder that this test writes to has no room")
	} else if !known && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
		t.Error("not known")
	}
	if _, known := safefs.FreeSpace(filepath.Join(t.TempDir(), "none")); known {
		t.Error("a folder that does not exist has room")
	}
}

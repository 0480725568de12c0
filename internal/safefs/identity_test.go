package safefs_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// TestOf: a file that is put in the place of another one, with its size and its time, is another file.
func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the time of the last change of status is unknown to slipway")
	}
	path := filepath.Join(t.TempDir(), "program")
	then := time.Now().Add(-time.Hour)
	put := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	put(path, "one")
	first, err := safefs.Identity(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := safefs.Identity(path); err != nil || again != first {
		t.Errorf("%s and %s (%v) are one file", first, again, err)
	}
	put(path+"2", "two")
	if err := os.Rename(path+"2", path); err != nil {
		t.Fatal(err)
	}
	if second, err := safefs.Identity(path); err != nil || second == first {
		t.Errorf("%s is no other file (%v)", second, err)
	}
	if _, err := safefs.Identity(path + "3"); err == nil {
		t.Error("a file that does not exist has an identity")
	}
}

package inside

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWithin: links in an image lead to places in the image.
func TestWithin(t *testing.T) {
	root := t.TempDir()
	for name, to := range map[string]string{"absolute": "/etc", "up": "../../..", "chain": "absolute", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/":               "",
		"etc/passwd":      "etc/passwd",
		"/../../x":        "x",
		"/absolute/x":     "etc/x",
		"/chain/x":        "etc/x",
		"/up/up/x":        "x",
		"/a/../b":         "b",
		"/absolute/../x":  "x",
		"/new/dir/../etc": "new/etc",
	} {
		if got := Within(root, path); got != filepath.Join(root, want) {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if got := Within(root, "/loop"); filepath.Dir(got) != root {
		t.Errorf("a loop leads to %s", got)
	}
}

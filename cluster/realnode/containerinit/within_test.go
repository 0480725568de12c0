package containerinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
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
	for i := range maxLinks { // of which the last leads to the root, and out of it if somebody else follows it
		if err := os.Symlink(fmt.Sprintf("/link%d", i+1), filepath.Join(root, fmt.Sprintf("link%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(root, fmt.Sprintf("link%d", maxLinks))); err != nil {
		t.Fatal(err)
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
		if got, err := Within(root, path); err != nil || got != filepath.Join(root, want) {
			t.Errorf("%s is %s (%v), want %s", path, got, err, want)
		}
	}
	for _, path := range []string{"/loop", "/link0/below"} {
		if got, err := Within(root, path); !errors.Is(err, syscall.ELOOP) {
			t.Errorf("%s leads to %s (%v)", path, got, err)
		}
	}
	if got, err := Within(root, "/link1/below"); err != nil || got != filepath.Join(root, "below") {
		t.Errorf("as many links as the kernel follows lead to %s (%v)", got, err)
	}
}

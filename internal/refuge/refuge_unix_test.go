//go:build unix

package refuge

import (
	"errors"
	"os"
	"testing"
)

// TestMake: the folder is this user's, and no other one is used.
func TestMake(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for range 2 {
		dir, err := Make()
		if err != nil || dir != Path() {
			t.Fatalf("%q, %v", dir, err)
		}
	}
	if err := os.Chmod(Path(), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(); !errors.Is(err, errShared) {
		t.Errorf("one that others read: %v", err)
	}
	if err := errors.Join(os.Remove(Path()), os.Symlink(t.TempDir(), Path())); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(); !errors.Is(err, errShared) {
		t.Errorf("a link: %v", err)
	}
	if os.Getuid() != 0 {
		return
	}
	if err := errors.Join(os.Remove(Path()), os.Mkdir(Path(), 0o700), os.Chown(Path(), 1, -1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(); !errors.Is(err, errShared) {
		t.Errorf("another user's: %v", err)
	}
}

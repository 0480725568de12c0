//go:build unix

package userdirs

import (
	"errors"
	"os"
	"testing"
)

// TestMake: the folder is this user's, and no other one is used.
func TestMake(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for range 2 {
		dir, err := MakePrivate()
		if err != nil || dir != PrivatePath() {
			t.Fatalf("%q, %v", dir, err)
		}
	}
	if err := os.Chmod(PrivatePath(), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := MakePrivate(); !errors.Is(err, errShared) {
		t.Errorf("one that others read: %v", err)
	}
	if err := errors.Join(os.Remove(PrivatePath()), os.Symlink(t.TempDir(), PrivatePath())); err != nil {
		t.Fatal(err)
	}
	if _, err := MakePrivate(); !errors.Is(err, errShared) {
		t.Errorf("a link: %v", err)
	}
	if os.Getuid() != 0 {
		return
	}
	if err := errors.Join(os.Remove(PrivatePath()), os.Mkdir(PrivatePath(), 0o700), os.Chown(PrivatePath(), 1, -1)); err != nil {
		t.Fatal(err)
	}
	if _, err := MakePrivate(); !errors.Is(err, errShared) {
		t.Errorf("another user's: %v", err)
	}
}

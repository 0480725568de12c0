//go:build unix

package safefs_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// userFile makes a file as a user may have it.
func userFile(t *testing.T, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old and long"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func update(t *testing.T, path string) *syscall.Stat_t {
	t.Helper()
	if err := safefs.Update(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("it holds %q, %v", got, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(safefs.Backup(path)); err == nil {
		t.Error("the copy of the old content is left behind")
	}
	return info.Sys().(*syscall.Stat_t)
}

func TestUpdateKeepsMode(t *testing.T) {
	for _, mode := range []os.FileMode{0o600, 0o644, 0o660} {
		if got := os.FileMode(update(t, userFile(t, mode)).Mode).Perm(); got != mode {
			t.Errorf("mode %v became %v", mode, got)
		}
	}
	path := filepath.Join(t.TempDir(), "made")
	if got := os.FileMode(update(t, path).Mode).Perm(); got != 0o600 {
		t.Errorf("a new file has mode %v", got)
	}
}

func TestUpdateKeepsOwner(t *testing.T) {
	path := userFile(t, 0o640)
	if err := os.Chown(path, 1234, 5678); err != nil {
		t.Skip("needs root: ", err)
	}
	s := update(t, path)
	if s.Uid != 1234 || s.Gid != 5678 || os.FileMode(s.Mode).Perm() != 0o640 {
		t.Errorf("owner %d:%d, mode %o", s.Uid, s.Gid, s.Mode)
	}
}

func TestUpdateKeepsHardLinks(t *testing.T) {
	path := userFile(t, 0o600)
	other := path + "-too"
	if err := os.Link(path, other); err != nil {
		t.Skip(err)
	}
	update(t, path)
	if got, err := os.ReadFile(other); err != nil || string(got) != "new" {
		t.Errorf("its other name leads to %q, %v", got, err)
	}
}

func TestUpdateRefusesWhatIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if err := safefs.Update(path, []byte("new"), 0o600); err == nil {
		t.Error("a pipe was written")
	}
}

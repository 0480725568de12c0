//go:build unix

package safefs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIsUser: a file is the user's until it is given away.
func TestIsUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	mine := func() bool {
		t.Helper()
		info, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		return OwnedByUser(info)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !mine() {
		t.Error("the user's own file is a stranger's")
	}
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	if err := os.Chown(file, 1, -1); err != nil {
		t.Fatal(err)
	}
	if mine() {
		t.Error("a stranger's file is the user's")
	}
}

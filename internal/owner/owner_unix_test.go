//go:build unix

package owner

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestDistrusted: what a stranger made or may change is not run, but beside a program of theirs that runs already.
func TestDistrusted(t *testing.T) {
	dir := t.TempDir()
	program, running := filepath.Join(dir, "program"), filepath.Join(dir, "running")
	for _, path := range []string{program, running} {
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := Distrusted(program, running); err != nil {
		t.Errorf("the user's own: %v", err)
	}
	if err := Distrusted(filepath.Join(dir, "none"), running); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := os.Chmod(program, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Distrusted(program, running); !errors.Is(err, ErrWritable) {
		t.Errorf("writable for all: %v", err)
	}
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	if err := errors.Join(os.Chmod(program, 0o700), os.Chown(program, 1, -1)); err != nil {
		t.Fatal(err)
	}
	if err := Distrusted(program, running); !errors.Is(err, ErrStranger) {
		t.Errorf("a stranger's: %v", err)
	}
	if info, err := os.Lstat(program); err != nil || IsUser(info) {
		t.Errorf("a stranger's is the user's: %v", err)
	}
	if err := os.Chown(running, 1, -1); err != nil {
		t.Fatal(err)
	}
	if err := Distrusted(program, running); err != nil {
		t.Errorf("of whoever owns what runs: %v", err)
	}
}

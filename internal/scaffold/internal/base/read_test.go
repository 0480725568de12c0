//go:build unix

package base

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeCommit: a few bytes of a repository stand for any number of zeros. Git is asked for a record's size before
// its content.
func TestLargeCommit(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	root, bin := t.TempDir(), t.TempDir()
	path, log := filepath.Join(root, filepath.FromSlash(Path)), filepath.Join(bin, "calls")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644), os.Truncate(path, maxSize+1)))
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "large"},
	} {
		if out, err := exec.CommandContext(t.Context(), real, append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	must(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho \"$@\" >>'"+log+"'\nexec '"+real+"' \"$@\"\n"), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	syntax := &SyntaxError{Err: errCutOff}
	if err := Remedy(t.Context(), root, syntax); !errors.Is(err, errCutOff) || !errors.Is(err, syntax) {
		t.Errorf("got %v", err)
	}
	calls, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(calls), " cat-file -s ") || strings.Contains(string(calls), " cat-file blob ") {
		t.Errorf("git was asked, %v:\n%s", err, calls)
	}
}

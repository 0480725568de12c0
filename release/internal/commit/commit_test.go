package commit_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/release/internal/commit"
)

// repository makes one with a module in the root and another one below.
func repository(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/a\n", "a.go": "package a\n", "LICENSE": "free", "script": "#!/bin/sh\n", ".gitignore": "ignored\n",
		"b/go.mod": "module example.com/a/b\n", "b/deep/b.go": "package deep\n", "b/c/go.mod": "module example.com/a/b/c\n", "b/c/c.go": "package c\n",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	if err := os.Symlink("a.go", filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "config", "core.autocrlf", "true")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-02-03T05:05:06+0100")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestModule: each file belongs to one module, and the licence to all of them.
func TestModule(t *testing.T) {
	dir := repository(t)
	write(t, filepath.Join(dir, "ignored"), "by git")
	r, err := commit.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Date.Format("2006-01-02T15:04:05Z07:00") != "2026-02-03T04:05:06Z" || len(r.Hash) != 40 {
		t.Errorf("%s of %s", r.Hash, r.Date)
	}
	for module, want := range map[string]string{".": ".gitignore LICENSE a.go go.mod script", "b": "LICENSE deep/b.go go.mod", "b/c": "LICENSE c.go go.mod"} {
		var got []string
		for _, f := range r.Module(module) {
			got = append(got, f.Path())
			content, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(content)
			if info, err2 := f.Lstat(); errors.Join(err, err2) != nil || info.Size() != int64(len(text)) || strings.Contains(string(text), "\r") {
				t.Errorf("%s: %q, %v, %v", f.Path(), text, err, err2)
			}
		}
		if strings.Join(got, " ") != want || !slices.IsSorted(got) {
			t.Errorf("%s has %v", module, got)
		}
	}
}

// TestChanged: a changed, a staged, a deleted and an unknown file are named.
func TestChanged(t *testing.T) {
	dir := repository(t)
	write(t, filepath.Join(dir, "a.go"), "package b\n")
	write(t, filepath.Join(dir, "new file"), "")
	write(t, filepath.Join(dir, "staged"), "")
	git(t, dir, "add", "staged")
	if err := os.Remove(filepath.Join(dir, "script")); err != nil {
		t.Fatal(err)
	}
	_, err := commit.Read(t.Context(), dir)
	e, ok := errors.AsType[*report.Error](err)
	if !ok || !errors.Is(err, commit.ErrChanged) {
		t.Fatal(err)
	}
	for _, name := range []string{"a.go", "new file", "staged", "script"} {
		if !slices.Contains(strings.Split(e.Hint, "\n"), name) {
			t.Errorf("%s is not named in %q", name, e.Hint)
		}
	}
}

// TestNoRepository: a folder without commits has no release.
func TestNoRepository(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if _, err := commit.Read(t.Context(), dir); err == nil {
		t.Error("no error")
	}
}

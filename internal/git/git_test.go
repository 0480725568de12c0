package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/git"
)

// repository makes one with a commit, in which each program that git might run leaves a file.
func repository(t *testing.T, dir string) (canary, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands for programs")
	}
	canary = filepath.Join(t.TempDir(), "ran")
	script = filepath.Join(t.TempDir(), "script")
	write(t, script, "#!/bin/sh\necho \"$0 $@\" >>"+canary+"\ncat\n", 0o755)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_NAME", "a")
		t.Setenv("GIT_"+name+"_EMAIL", "a@example.com")
	}
	run(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "file.txt"), "one\n", 0o644)
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-qm", "one")
	return canary, script
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// run runs git as anybody does.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestEnvironment: monitors, hooks and transports of a repository run for whoever asks git plainly, and not here.
func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	canary, script := repository(t, dir)
	run(t, dir, "config", "core.fsmonitor", script)
	write(t, filepath.Join(dir, ".git", "hooks", "post-index-change"), "#!/bin/sh\n"+script+" </dev/null\n", 0o755)
	touch := func() { write(t, filepath.Join(dir, "file.txt"), "one\n", 0o644) } // so that the index is written again
	touch()
	run(t, dir, "status", "--porcelain")
	if err := os.Remove(canary); err != nil {
		t.Fatal("the repository is harmless: ", err)
	}
	for _, args := range [][]string{{"status", "--porcelain"}, {"log", "-1"}, {"show", "HEAD:./file.txt"}} {
		touch()
		if _, err := git.Output(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := git.Programs(t.Context(), dir); err != nil || len(keys) > 0 {
		t.Errorf("got %v, %v", keys, err)
	}
	if ran, err := os.ReadFile(canary); err == nil {
		t.Errorf("git ran %s", ran)
	}
}

// TestPrograms: what cannot be turned off is told, also of submodules.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	_, script := repository(t, dir)
	want := func(dir string, want ...string) {
		t.Helper()
		keys, err := git.Programs(t.Context(), dir)
		if err != nil || !slices.Equal(keys, want) {
			t.Errorf("got %v, %v; want %v", keys, err, want)
		}
	}
	run(t, dir, "config", "core.sshCommand", script)
	want(dir) // nothing is fetched
	run(t, dir, "config", "extensions.partialClone", "origin")
	run(t, dir, "config", "core.repositoryFormatVersion", "1")
	want(dir, "core.sshcommand")
	run(t, dir, "config", "--unset", "core.sshCommand")
	run(t, dir, "config", "filter.X.clean", script)
	want(dir, "filter.x.clean")
	outer := t.TempDir()
	repository(t, outer)
	run(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", dir, "sub")
	want(outer)
	run(t, filepath.Join(outer, "sub"), "config", "filter.x.process", script)
	want(outer, "filter.x.process")
	include := filepath.Join(t.TempDir(), "include")
	write(t, include, "[hook \"x\"]\n\tcommand = "+script+"\n", 0o644)
	run(t, outer, "config", "include.path", include)
	want(outer, "hook.x.command", "filter.x.process")
}

// TestPartialClone: what is missing is not fetched by a program that the repository names.
func TestPartialClone(t *testing.T) {
	origin, dir := t.TempDir(), t.TempDir()
	repository(t, origin)
	run(t, origin, "config", "uploadpack.allowFilter", "true")
	canary, script := repository(t, dir)
	run(t, dir, "-c", "protocol.file.allow=always", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin, "clone")
	clone := filepath.Join(dir, "clone")
	run(t, clone, "config", "remote.origin.uploadpack", script)
	if out, err := git.Output(t.Context(), clone, "show", "HEAD:file.txt"); err == nil {
		t.Errorf("got %s", out)
	}
	if ran, err := os.ReadFile(canary); err == nil {
		t.Errorf("git ran %s", ran)
	}
	run(t, clone, "config", "--unset", "remote.origin.uploadpack")
	if out, err := git.Output(t.Context(), clone, "show", "HEAD:file.txt"); err != nil || string(out) != "one\n" {
		t.Errorf("a harmless one: %q, %v", out, err)
	}
}

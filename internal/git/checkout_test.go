package git_test

import (
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/git"
)

// TestCheckout: the files of a commit are written as the repository keeps them, also from a folder in it, and nothing
// that the repository names is run.
func TestCheckout(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	repository, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	run := runGit(t, repository)
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(repository, name)), 0o755), os.WriteFile(filepath.Join(repository, name), []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("op/PROJECT", "version: 3\n", 0o644)
	write("op/hack/run.sh", "#!/bin/sh\n", 0o755)
	write("op/empty", "", 0o644)
	write(".gitattributes", "* filter=evil export-ignore\n", 0o644)
	if err := os.Symlink("/etc/passwd", filepath.Join(repository, "op", "link")); err != nil {
		t.Skip(err)
	}
	run("", "init", "--quiet")
	run("", "add", "--all")
	run("", "commit", "--quiet", "--message", "one")
	run("", "config", "filter.evil.smudge", "touch "+ran)
	run("", "config", "core.hooksPath", repository)
	write("post-checkout", "#!/bin/sh\ntouch "+ran+"\n", 0o755)
	write("op/PROJECT", "changed\n", 0o644)

	commit, err := git.Commit(t.Context(), repository, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	inside, err := git.Checkout(t.Context(), filepath.Join(repository, "op"), commit, to)
	if err != nil || inside != filepath.Join(to, "op") {
		t.Fatalf("checked out in %s: %v", inside, err)
	}
	for name, want := range map[string]string{"PROJECT": "version: 3\n", "hack/run.sh": "#!/bin/sh\n", "empty": ""} {
		if got, err := os.ReadFile(filepath.Join(inside, name)); string(got) != want || err != nil {
			t.Errorf("%s is %q: %v", name, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(inside, "hack", "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("run.sh is not executable: %v", err)
	}
	if target, err := os.Readlink(filepath.Join(inside, "link")); target != "/etc/passwd" || err != nil {
		t.Errorf("the link leads to %s: %v", target, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository was run")
	}
	if _, err := git.Commit(t.Context(), repository, "no-such-tag"); err == nil {
		t.Error("a tag that is not there means a commit")
	}
}

// TestCheckoutStaysInside: no name in a commit leads out of the folder. Git itself refuses to make such commits.
func TestCheckoutStaysInside(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	repository := commit(t, "text\n", "a")
	run := runGit(t, repository)
	hash := func(kind string, content []byte) string {
		return run(string(content), "hash-object", "-w", "--literally", "-t", kind, "--stdin")
	}
	raw := func(id string) []byte {
		b, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	blob := hash("blob", []byte("text\n"))
	tree := hash("tree", append([]byte("40000 ..\x00"), raw(hash("tree", append([]byte("100644 out\x00"), raw(blob)...)))...))
	made := hash("commit", []byte("tree "+tree+"\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nm\n"))
	above := t.TempDir()
	to := filepath.Join(above, "to")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := git.Checkout(t.Context(), repository, made, to); err == nil {
		t.Error("it was checked out")
	}
	if _, err := os.Stat(filepath.Join(above, "out")); err == nil {
		t.Error("a file was written outside")
	}
}

// TestCheckoutOfManyFiles: a few objects may stand for any number of files, which are counted and not written.
func TestCheckoutOfManyFiles(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	repository := commit(t, "", numbered(10)...)
	run := runGit(t, repository)
	tree := run("", "rev-parse", "main^{tree}")
	for range 9 {
		var above strings.Builder
		for _, name := range numbered(10) {
			above.WriteString("040000 tree " + tree + "\t" + name + "\n")
		}
		tree = run(above.String(), "mktree")
	}
	made := run("", "commit-tree", "-m", "ten thousand millions", tree)
	if _, err := git.Checkout(t.Context(), repository, made, t.TempDir()); !errors.Is(err, git.ErrMany) {
		t.Errorf("got %v", err)
	}
}

// TestCheckoutThroughLink: a folder that was a link in the commit is not where the project was.
func TestCheckoutThroughLink(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	repository, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(other, filepath.Join(repository, "op")); err != nil {
		t.Skip(err)
	}
	run := runGit(t, repository)
	run("", "init", "--quiet")
	run("", "add", "--all")
	run("", "commit", "--quiet", "--message", "one")
	if err := errors.Join(os.Remove(filepath.Join(repository, "op")), os.Mkdir(filepath.Join(repository, "op"), 0o755)); err != nil {
		t.Fatal(err)
	}
	made, err := git.Commit(t.Context(), repository, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := git.Checkout(t.Context(), filepath.Join(repository, "op"), made, t.TempDir()); err == nil {
		t.Error("it was checked out")
	}
}

package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/git"
)

// commit makes a repository whose only commit has a file by each name, all with the same content.
func commit(t *testing.T, content string, names ...string) (repository string) {
	t.Helper()
	repository = t.TempDir()
	run := runGit(t, repository)
	run("", "init", "--quiet", "-b", "main")
	blob := run(content, "hash-object", "-w", "--stdin")
	var tree bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&tree, "100644 blob %s\t%s\n", blob, name)
	}
	run("", "update-ref", "refs/heads/main", run("", "commit-tree", "-m", "one", run(tree.String(), "mktree")))
	return repository
}

// runGit returns a function that runs git in a repository, with an input, for its output.
func runGit(t *testing.T, repository string) func(input string, args ...string) string {
	return func(input string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", repository, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	return names
}

// TestFetch: a commit's files are written, unless they are too many or too large.
func TestFetch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	small := commit(t, "text\n", "a.yaml")
	for name, test := range map[string]struct {
		from git.Source
		want error
	}{
		"small":     {git.Source{Address: "file://" + small, Protocols: "file"}, nil},
		"by name":   {git.Source{Address: "file://" + small, Name: "main", Protocols: "file"}, nil},
		"many":      {git.Source{Address: "file://" + commit(t, "", numbered(50_001)...), Protocols: "file"}, git.ErrMany},
		"large":     {git.Source{Address: "file://" + commit(t, strings.Repeat("\x00", 1<<20), numbered(257)...), Protocols: "file"}, git.ErrLarge},
		"a program": {git.Source{Address: "ext::sh -c 'touch " + small + "/ran'"}, errSome},
		"a file":    {git.Source{Address: "file://" + small}, errSome},
		"no commit": {git.Source{Address: "file://" + small, Name: "gone", Protocols: "file"}, errSome},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "fetched")
			err := git.Fetch(t.Context(), dir, test.from)
			if test.want == nil {
				text, unread := os.ReadFile(filepath.Join(dir, "a.yaml"))
				if err != nil || unread != nil || string(text) != "text\n" {
					t.Errorf("%v, %v: %q", err, unread, text)
				}
				return
			}
			if err == nil || !errors.Is(test.want, errSome) && !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if files, _ := filepath.Glob(filepath.Join(dir, "[af]*")); len(files) > 0 {
				t.Errorf("%d files were written", len(files))
			}
		})
	}
	if _, err := os.Stat(filepath.Join(small, "ran")); err == nil {
		t.Error("a program was run")
	}
}

// errSome is any error.
var errSome = errors.New("some")

// TestFetchEnds: a fetch ends with its context.
func TestFetchEnds(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := git.Fetch(ctx, filepath.Join(t.TempDir(), "fetched"), git.Source{Address: "http://127.0.0.1:1/a/b"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFetchInHook: a hook of a repository runs with variables by which git would fetch into that one, and check out
// there.
func TestFetchInHook(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	mine, other := commit(t, "mine\n", "m.yaml"), commit(t, "other\n", "a.yaml")
	of := filepath.Join(mine, ".git")
	before, err := os.ReadFile(filepath.Join(of, "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"GIT_DIR": of, "GIT_WORK_TREE": mine, "GIT_INDEX_FILE": filepath.Join(of, "index"), "GIT_OBJECT_DIRECTORY": filepath.Join(of, "objects"), "GIT_COMMON_DIR": of,
	} {
		t.Setenv(name, value)
	}
	dir := filepath.Join(t.TempDir(), "fetched")
	err = git.Fetch(t.Context(), dir, git.Source{Address: "file://" + other, Protocols: "file"})
	if text, unread := os.ReadFile(filepath.Join(dir, "a.yaml")); err != nil || unread != nil || string(text) != "other\n" {
		t.Errorf("%v, %v: %q", err, unread, text)
	}
	after, err := os.ReadFile(filepath.Join(of, "HEAD"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the hook's repository is at %q, %v", after, err)
	}
	for _, name := range []string{"FETCH_HEAD", "index", "shallow"} {
		if _, err := os.Lstat(filepath.Join(of, name)); err == nil {
			t.Errorf("the hook's repository has a new %s", name)
		}
	}
}

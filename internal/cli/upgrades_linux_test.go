package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestUpgrades runs testdata/upgrades/*.txtar: rehearsals of upgrades in which a mistake was made, or none.
func TestUpgrades(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-upgrades")
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "upgrades"), RequireExplicitExec: true, RequireUniqueNames: true, Setup: scriptEnv, Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"published": publishExample, "publish": publish},
	})
}

// publishExample is the script command `published EXAMPLE DIR`: an example in a repository of its own, with the tag
// v0.1.0.
func publishExample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: published EXAMPLE DIR")
	}
	dir := ts.MkAbs(args[1])
	ts.Check(os.CopyFS(dir, os.DirFS(filepath.Join(ts.Getenv("REPOSITORY"), "examples", args[0]))))
	runGit(ts, dir, "init", "--quiet")
	release(ts, dir, "v0.1.0")
}

// publish is the script command `publish TAG`: it commits and tags all files of the working folder.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: publish TAG")
	}
	release(ts, ts.MkAbs("."), args[0])
}

func release(ts *testscript.TestScript, dir, tag string) {
	runGit(ts, dir, "add", "--all")
	runGit(ts, dir, "-c", "user.name=an author", "-c", "user.email=author@example.com", "commit", "--quiet", "--message", tag)
	runGit(ts, dir, "tag", tag)
}

func runGit(ts *testscript.TestScript, dir string, args ...string) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

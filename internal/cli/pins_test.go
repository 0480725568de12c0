package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/cli"
)

// TestPinnedModules checks that the go.mod and go.sum of a new project are what
// `go mod tidy` would make of them once it has an API; -update takes over what it makes.
func TestPinnedModules(t *testing.T) {
	const repo = "example.com/pinned"
	dir := t.TempDir()
	slipway(t, dir, "init", "--repo", repo, "--fetch-deps=false")
	slipway(t, dir, "create", "api", "--group", "batch", "--version", "v1", "--kind", "CronJob", "--resource", "--controller")
	if !*update {
		if diff := goTool(t, dir, "mod", "tidy", "-diff"); diff != "" {
			t.Errorf("not tidy (-update accepts it):\n%s", diff)
		}
		return
	}
	goTool(t, dir, "mod", "tidy")
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), "module "+repo, "module {{.Repo}}", 1)
		if err := os.WriteFile(filepath.Join("..", "scaffold", "templates", name+".tmpl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// slipway runs the command in this process.
func slipway(t *testing.T, dir string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	env := cli.Env{Args: args, Dir: dir, Getenv: os.Getenv, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}
	if code := cli.Main(t.Context(), env); code != 0 {
		t.Fatalf("slipway %s: exit code %d\n%s", strings.Join(args, " "), code, out.Bytes())
	}
}

// goTool runs the go command and returns what it prints.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, errs.Bytes())
	}
	return out.String()
}

package ci_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clone is how slipway comes to a machine, whether there is a release or not.
const clone = "git clone https://github.com/slipway-dev/slipway ../slipway && go install -C ../slipway ./cmd/slipway"

// TestMakefileSaysHowToInstall does what a new project's Makefile prints on a machine without slipway, where the
// repository is a copy of this one: the target runs then.
func TestMakefileSaysHowToInstall(t *testing.T) {
	r := newRunner(t)
	repository := copyOfRepository(t)
	project := filepath.Join(r.home, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "GOFLAGS=-trimpath", "CGO_ENABLED=0", "GOPATH="+filepath.Join(r.home, "go"), "SLIPWAY_CHECK=off",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+repository+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/slipway-dev/slipway")
	r.succeed("cd '" + repository + "' && go build -o '" + r.home + "/made-by/' ./cmd/slipway")
	r.succeed("cd project && '" + r.home + "/made-by/slipway' init --domain example.com --repo example.com/op --fetch-deps=false")
	printed, err := r.bash("cd project && make slipway")
	if err == nil || !strings.Contains(printed, "make: slipway is not on PATH") {
		t.Fatalf("%v\n%s", err, printed)
	}
	var next []string
	for line := range strings.Lines(printed) {
		if command, ok := strings.CutPrefix(line, "  "); ok {
			next = append(next, strings.TrimSpace(command))
		}
	}
	if len(next) != 2 || next[0] != clone {
		t.Fatalf("the next commands are %q", next)
	}
	out := r.succeed("cd project\n" + strings.Join(next, "\n") + "\nmake slipway && slipway version && command -v slipway")
	if !strings.Contains(out, filepath.Join(r.home, "go/bin/slipway")) {
		t.Errorf("another slipway was found:\n%s", out)
	}
}

// succeed runs a script that must succeed, and returns what it printed.
func (r *runner) succeed(script string) string {
	r.t.Helper()
	out, err := r.bash(script)
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

// copyOfRepository is a git repository with the command's sources as they are now.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "cmd", "internal", "project"} {
		if out, err := exec.CommandContext(t.Context(), "cp", "-R", filepath.Join(root, name), dir).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v\n%s", err, out)
		}
	}
	git(t.Context(), t, dir, "init", "--quiet")
	git(t.Context(), t, dir, "add", ".")
	git(t.Context(), t, dir, "commit", "--quiet", "-m", "the command")
	return dir
}

// TestErrorsSayHowToInstall: as the Makefile does.
func TestErrorsSayHowToInstall(t *testing.T) {
	for _, name := range []string{"internal/scaffold/internal/base/read.go", "operator/clustertest/internal/find/find.go"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), clone) {
			t.Errorf("%s does not say %s", name, clone)
		}
	}
}

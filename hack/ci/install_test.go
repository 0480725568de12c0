package ci_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/rounds"
)

// clone is how slipway comes to a machine, whether there is a release or not.
const clone = "git clone https://github.com/slipway-dev/slipway ../slipway && go install -C ../slipway ./cmd/slipway"

// TestMakefileSaysHowToInstall does what a new project's Makefile prints on a machine without slipway, where the
// repository is one of a small slipway: the target runs then.
func TestMakefileSaysHowToInstall(t *testing.T) {
	rounds.Thorough(t)
	r := newRunner(t)
	repository := checkout(t)
	git(t.Context(), t, repository, "init", "--quiet")
	git(t.Context(), t, repository, "add", ".")
	git(t.Context(), t, repository, "commit", "--quiet", "-m", "sources")
	r.env = append(r.env, "GOPATH="+filepath.Join(r.home, "go"),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+repository+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/slipway-dev/slipway")
	project := filepath.Join(r.home, "project")
	if err := errors.Join(os.Mkdir(project, 0o755), os.WriteFile(filepath.Join(project, "Makefile"), scaffolded(t, "init/Makefile.tmpl"), 0o600)); err != nil {
		t.Fatal(err)
	}
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

// TestErrorsSayHowToInstall: as the Makefile does.
func TestErrorsSayHowToInstall(t *testing.T) {
	for _, name := range []string{"internal/scaffold/internal/base/parse.go", "operator/clustertest/internal/find/find.go"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), clone) {
			t.Errorf("%s does not say %s", name, clone)
		}
	}
}

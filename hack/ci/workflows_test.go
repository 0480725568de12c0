package ci_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
)

// A workflow is a file of .github/workflows.
type workflow struct {
	Env         map[string]string
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Timeout     int `yaml:"timeout-minutes"`
		Strategy    struct{ Matrix map[string][]string }
		Steps       []step
	}
}

// workflows reads the repository's.
func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("found no workflows: %v", err)
	}
	all := map[string]workflow{}
	for _, name := range names {
		var w workflow
		read(t, ".github/workflows/"+filepath.Base(name), &w)
		all[filepath.Base(name)] = w
	}
	return all
}

// TestActionlint: in the version of `make lint`, of our workflows and of the one that `slipway edit --enable ci`
// writes.
func TestActionlint(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make lint")
	}
	linter := makeVariable(t, "ACTIONLINT")
	written := filepath.Join(t.TempDir(), "ci.yml")
	if err := os.WriteFile(written, scaffolded(t, "features-ci/ci.yml.tmpl"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", linter, written)
	cmd.Dir = root
	names, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		cmd.Args = append(cmd.Args, ".github/workflows/"+filepath.Base(name))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// scaffolded is a file of new projects.
func scaffolded(t *testing.T, name string) []byte {
	t.Helper()
	text, err := template.ParseFiles(filepath.Join(root, "internal/scaffold/templates", name))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := text.Execute(&b, map[string]string{"Release": ""}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// makeVariable is a variable of the Makefile.
func makeVariable(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + `\s*:=\s*(.+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return string(m[1])
}

// TestWorkflowsAreSafe: they may read, actions are commits, scripts have no expressions in their text, and each job
// ends.
func TestWorkflowsAreSafe(t *testing.T) {
	for name, w := range workflows(t) {
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions are %v", name, w.Permissions)
		}
		for id, j := range w.Jobs {
			if j.Timeout == 0 {
				t.Errorf("%s: %s has no timeout", name, id)
			}
			for what, may := range j.Permissions {
				if may != "read" && (name != "release.yml" || id != "publish") {
					t.Errorf("%s: %s may %s %s", name, id, may, what)
				}
			}
			for _, s := range j.Steps {
				checkStep(t, name+": "+id, s)
			}
		}
	}
}

// TestScaffoldedWorkflowIsPinned: a new project names actions of others by a commit, with the version in a comment, in
// the form that Renovate keeps up to date; those that this repository uses too are the same.
func TestScaffoldedWorkflowIsPinned(t *testing.T) {
	pinned := regexp.MustCompile(`uses: (([\w.-]+/[\w.-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+)\n`)
	own := map[string]string{}
	names, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pinned.FindAllStringSubmatch(string(text), -1) {
			own[m[2]] = m[1]
		}
	}
	text := string(scaffolded(t, "features-ci/ci.yml.tmpl"))
	found := pinned.FindAllStringSubmatch(text, -1)
	if want := strings.Count(text, "uses: ") - 1; len(found) != want || !strings.Contains(text, "uses: slipway-dev/slipway@main # ") {
		t.Errorf("%d actions of others are pinned, want %d:\n%s", len(found), want, text)
	}
	for _, m := range found {
		if own[m[2]] != "" && own[m[2]] != m[1] {
			t.Errorf("new projects use %s, and this repository %s", m[1], own[m[2]])
		}
	}
}

func TestActionIsSafe(t *testing.T) {
	var a action
	read(t, "action.yml", &a)
	for _, s := range a.Runs.Steps {
		checkStep(t, "action.yml", s)
		if s.Run != "" && s.Shell != "bash" {
			t.Errorf("action.yml: %s has no shell", s.Name)
		}
	}
}

// checkStep checks one step.
func checkStep(t *testing.T, where string, s step) {
	t.Helper()
	if s.Uses != "" && s.Uses != "./" && !regexp.MustCompile(`^[\w.-]+/[\w.-]+@[0-9a-f]{40}$`).MatchString(s.Uses) {
		t.Errorf("%s uses %s, which is no commit", where, s.Uses)
	}
	if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
		t.Errorf("%s: later steps would have the token in .git", where)
	}
	if expression.MatchString(s.Run) {
		t.Errorf("%s: a script has an expression in its text: %s", where, s.Run)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-n")
	cmd.Stdin = strings.NewReader(s.Run)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", where, err, out, s.Run)
	}
}

// TestWorkflowsNameTargets: each `make` of a workflow without secrets has its target, and each long part has a job.
func TestWorkflowsNameTargets(t *testing.T) {
	all := workflows(t)
	parts := all["long.yml"].Jobs["part"].Strategy.Matrix["part"]
	if want := strings.Fields(makeVariable(t, "LONG")); !slices.Equal(parts, want) {
		t.Errorf("long.yml has the parts %v, the Makefile %v", parts, want)
	}
	target := regexp.MustCompile(`(?m)^make "?([a-z-]+)`)
	found := 0
	for _, name := range []string{"ci.yml", "long.yml"} {
		for _, j := range all[name].Jobs {
			for _, s := range j.Steps {
				for _, m := range target.FindAllStringSubmatch(s.Run, -1) {
					found++
					checkTarget(t, name, strings.TrimSuffix(m[1], "-"))
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("found only %d targets", found)
	}
}

// TestWorkflowsHavePatchedGo: jobs compile with the newest patch of the minor version in go.mod. The version in go.mod
// is the oldest one that will do: a release would have the holes that were found in its library since, and other
// modules of the repository need a later patch.
func TestWorkflowsHavePatchedGo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(text)
	if minor == nil {
		t.Fatal("go.mod has no version of Go")
	}
	for name, w := range workflows(t) {
		for id, j := range w.Jobs {
			asked := []string{string(minor[1])}
			if versions := j.Strategy.Matrix["go"]; versions != nil {
				asked = append(asked, "${{ matrix.go }}")
				if !slices.Equal(versions, []string{asked[0], "stable"}) {
					t.Errorf("%s: %s has Go %v", name, id, versions)
				}
			}
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/setup-go@") && (!slices.Contains(asked, s.With["go-version"]) || s.With["check-latest"] != "true") {
					t.Errorf("%s: %s installs Go by %v, not the newest patch of %s", name, id, s.With, minor[1])
				}
			}
		}
	}
}

// TestWorkflowsTrustGo: jobs that run slipway, or its tests, start the Go of the runner's folder of tools, where all
// users may write. The action says so itself.
func TestWorkflowsTrustGo(t *testing.T) {
	starts := regexp.MustCompile(`(?m)^\s*(make "?(check|test|release)|go test )`)
	for name, w := range workflows(t) {
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				trusted := strings.Split(w.Env["SLIPWAY_TRUST"]+":"+s.Env["SLIPWAY_TRUST"], ":")
				if starts.MatchString(s.Run) && !slices.Contains(trusted, "/opt/hostedtoolcache") && !slices.Contains(trusted, "${{ runner.tool_cache }}") {
					t.Errorf("%s: %s trusts %q", name, id, trusted)
				}
			}
		}
	}
}

// TestModulesNeedOneGo: CONTRIBUTING.md says which Go is needed, and the modules say the same, except those whose
// dependencies need a later patch of it.
func TestModulesNeedOneGo(t *testing.T) {
	line := regexp.MustCompile(`(?m)^go (\S+)$`)
	want := line.FindStringSubmatch(readAll(t, filepath.Join(root, "go.mod")))[1]
	if minor := strings.TrimSuffix(want, ".0"); minor == want || !strings.Contains(readAll(t, filepath.Join(root, "CONTRIBUTING.md")), "Go "+minor+" or newer") {
		t.Errorf("CONTRIBUTING.md does not say that Go %s is needed", want)
	}
	for _, dir := range []string{"cluster", "operator", "bench", "release", "test/differential"} {
		if got := line.FindStringSubmatch(readAll(t, filepath.Join(root, dir, "go.mod"))); got == nil || got[1] != want {
			t.Errorf("%s needs %v, not Go %s", dir, got, want)
		}
	}
}

func checkTarget(t *testing.T, name, target string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "-n", target)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: make %s: %v\n%.500s", name, target, err, out)
	}
}

// TestKeyReachesOneProgram: what the Makefile compiles for a release, it compiles without the key that signs.
func TestKeyReachesOneProgram(t *testing.T) {
	bin := t.TempDir()
	played := `#!/bin/sh
echo "go $* key=$SLIPWAY_RELEASE_KEY" >>'` + bin + `/asked'
[ "$1" != env ] || exit 0
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho "release $* key=$SLIPWAY_RELEASE_KEY" >>%s\n' '` + bin + `/asked' >"$2" && chmod +x "$2"
`
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(played), 0o700); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"release": "-version v0.1.0 -public-key public", "sign": "-sign"} {
		cmd := exec.CommandContext(t.Context(), "make", target, "BIN="+bin, "VERSION=v0.1.0", "PUBLIC_KEY=public")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "SLIPWAY_RELEASE_KEY=secret")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		asked := readAll(t, filepath.Join(bin, "asked"))
		lines := strings.Split(strings.TrimSpace(asked), "\n")
		ran := lines[len(lines)-1]
		withKey := func(line string) bool { return !strings.HasSuffix(line, " key=") }
		if len(lines) < 2 || slices.ContainsFunc(lines[:len(lines)-1], withKey) || !strings.Contains(ran, want) || !strings.HasSuffix(ran, " key=secret") {
			t.Errorf("make %s:\n%s", target, asked)
		}
		if err := os.Remove(filepath.Join(bin, "asked")); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll is the text of a file.
func readAll(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

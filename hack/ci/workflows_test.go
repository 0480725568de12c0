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
	linter := makeVariable(t, "ACTIONLINT")
	written := filepath.Join(t.TempDir(), "ci.yml")
	if err := os.WriteFile(written, scaffolded(t), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", linter, "-shellcheck=", "-pyflakes=", written)
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

// scaffolded is the workflow of new projects.
func scaffolded(t *testing.T) []byte {
	t.Helper()
	text, err := template.ParseFiles(filepath.Join(root, "internal/scaffold/templates/features-ci/ci.yml.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := text.Execute(&b, nil); err != nil {
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
			if len(j.Permissions) > 0 && (name != "release.yml" || id != "publish") {
				t.Errorf("%s: %s may %v", name, id, j.Permissions)
			}
			for _, s := range j.Steps {
				checkStep(t, name+": "+id, s)
			}
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

func checkTarget(t *testing.T, name, target string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "-n", target)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: make %s: %v\n%.500s", name, target, err, out)
	}
}

// TestRelease runs the jobs of release.yml for a tag, with a Makefile that makes a small release and a gh that writes
// down what it is asked.
func TestRelease(t *testing.T) {
	for name, c := range map[string]struct {
		tags      []string
		changelog string
		want      string // of the error; else the kind of release
	}{
		"published":            {[]string{"v0.1.0", "cluster/v0.1.0", "operator/v0.1.0"}, "# Changelog\n\n## 0.1.0 (today)\n\nNews.\n\n## 0.0.9\n\nOld.\n", "--latest"},
		"before a release":     {[]string{"v0.1.0-rc.1", "cluster/v0.1.0-rc.1", "operator/v0.1.0-rc.1"}, "## 0.1.0-rc.1\n\nNews.\n", "--prerelease"},
		"no version":           {[]string{"v0.1.0;$(touch${IFS}ran)"}, "", "the tag is not a version"},
		"nested tag missing":   {[]string{"v0.1.0", "cluster/v0.1.0"}, "## 0.1.0\n\nNews.\n", "operator/v0.1.0 is not at this commit"},
		"no word of changelog": {[]string{"v0.1.0", "cluster/v0.1.0", "operator/v0.1.0"}, "## 0.1.01\n\nNews.\n", `no section "## 0.1.0"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			repository := playedRepository(t, c.changelog, c.tags)
			bin := playedGH(t, repository)
			out, err := r.release(repository, bin, c.tags[0])
			if !strings.HasPrefix(c.want, "--") {
				if err == nil || !strings.Contains(out, c.want) {
					t.Errorf("%v\n%s", err, out)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			asked, err := os.ReadFile(filepath.Join(bin, "asked"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"release create " + c.tags[0] + " " + c.want + " --verify-tag", "built/dist/" + c.tags[0] + "/slipway.tar.gz", "built/dist/" + c.tags[0] + "/SHA256SUMS", "News."} {
				if !strings.Contains(string(asked), want) {
					t.Errorf("gh was not asked for %s:\n%s", want, asked)
				}
			}
			if strings.Contains(string(asked), "Old.") {
				t.Errorf("the notes have those of another version:\n%s", asked)
			}
		})
	}
}

// release runs the scripts of release.yml's jobs in a repository, for a tag.
func (r *runner) release(repository, bin, tag string) (string, error) {
	r.t.Helper()
	jobs := workflows(r.t)["release.yml"].Jobs
	values := map[string]string{
		"github.ref_name": tag, "secrets.SLIPWAY_RELEASE_KEY": "key", "github.token": "token", "github.repository": "o/r", "github.run_id": "7",
	}
	var all strings.Builder
	for _, s := range slices.Concat(jobs["build"].Steps, jobs["publish"].Steps) {
		if s.Run == "" {
			continue
		}
		env := []string{"RUNNER_TEMP=" + r.home, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
		for name, text := range s.Env {
			env = append(env, name+"="+r.evaluate(text, values))
		}
		out, err := r.bash("cd '"+repository+"'\n"+s.Run, env...)
		all.WriteString(out)
		if err != nil {
			return all.String(), err
		}
	}
	return all.String(), nil
}

// playedRepository is a repository with a changelog and tags, whose Makefile refuses a tree with changes.
func playedRepository(t *testing.T, changelog string, tags []string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"CHANGELOG.md": changelog,
		".gitignore":   "/dist/\n",
		"Makefile": "release:\n\ttest -n \"$$SLIPWAY_RELEASE_KEY\" && test -z \"$$(git status --porcelain)\"\n" +
			"\tmkdir -p dist/$(VERSION) && echo $(VERSION) > dist/$(VERSION)/slipway.tar.gz && cd dist/$(VERSION) && sha256sum slipway.tar.gz > SHA256SUMS\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t.Context(), t, dir, "init", "--quiet")
	git(t.Context(), t, dir, "add", ".")
	git(t.Context(), t, dir, "commit", "--quiet", "-m", "a release")
	for _, tag := range tags {
		git(t.Context(), t, dir, "tag", tag)
	}
	return dir
}

// playedGH is a folder with a gh that gives what was built, and writes down what it was asked and which notes it got.
func playedGH(t *testing.T, repository string) string {
	t.Helper()
	bin := t.TempDir()
	script := `#!/usr/bin/env bash
set -euo pipefail
echo "$*" >>'` + bin + `/asked'
case "$1 $2" in
  "run download") mkdir built && cp -r '` + repository + `'/dist '` + repository + `'/notes.md built ;;
  "release create") cat built/notes.md >>'` + bin + `/asked' ;;
  *) exit 2 ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}

package ci_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A component is the GitLab template: what it may be given, and its jobs.
type component struct {
	Spec struct {
		Component []string
		Inputs    map[string]struct {
			Description, Default, Regex string
			Options                     []string
		}
	}
}

// A job is one of GitLab's.
type job struct {
	Extends      string
	Variables    map[string]string
	BeforeScript []string `yaml:"before_script"`
	Cache        struct {
		Key   string
		Paths []string
	}
	Script []string
}

// TestGitLabTemplate runs the template's script in a project, with the sources of a repository.
func TestGitLabTemplate(t *testing.T) {
	h := newHost(t)
	repository := checkout(t)
	copyInstaller(t, repository)
	git(t.Context(), t, repository, "init", "--quiet", "--initial-branch=main")
	git(t.Context(), t, repository, "add", ".")
	git(t.Context(), t, repository, "commit", "--quiet", "-m", "sources")
	git(t.Context(), t, repository, "tag", version)
	tagged := head(t, repository)
	git(t.Context(), t, repository, "commit", "--quiet", "--allow-empty", "-m", "later")
	for name, c := range map[string]struct {
		commit string
		inputs map[string]string
		want   string
	}{
		"release":     {head(t, repository), map[string]string{"version": version, "mirror": h.URL, "public_key": h.key}, "slipway " + version + ", played"},
		"its release": {tagged, map[string]string{"mirror": h.URL, "public_key": h.key}, "slipway " + version + ", played"},
		"sources":     {head(t, repository), nil, "slipway (devel), small"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			inputs := map[string]string{"repository": repository, "programs": "none"}
			for k, v := range c.inputs {
				inputs[k] = v
			}
			env, script := gitLabJob(t, c.commit, inputs)
			out, err := r.bash(script+"\nslipway version\necho \"sources: ${SLIPWAY_SOURCE:-none}\"\n", append(env, "CI_PROJECT_DIR="+r.home)...)
			if err != nil || strings.Count(out, c.want) != 2 {
				t.Fatalf("%v\n%s", err, out)
			}
			if name != "sources" && !strings.Contains(out, "sources: none") {
				t.Errorf("a release is compared with sources\n%s", out)
			}
		})
	}
}

// TestGitLabRef: the install script is that of the version, or of the component's commit, unless ref names another one.
// A commit with a version's tag, annotated or not, is that version.
func TestGitLabRef(t *testing.T) {
	repository := t.TempDir()
	git(t.Context(), t, repository, "init", "--quiet", "--initial-branch=main")
	script := filepath.Join(repository, "hack/ci/install.sh")
	if err := os.MkdirAll(filepath.Dir(script), 0o755); err != nil {
		t.Fatal(err)
	}
	commits := map[string]string{}
	for _, tag := range []string{version, "old", "new"} {
		if err := os.WriteFile(script, []byte("echo \"the script of "+tag+", for $SETUP_REF in $SETUP_FOLDER\"; mkdir -p \"$SETUP_FOLDER\" && : >\"$SETUP_FOLDER/env\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		git(t.Context(), t, repository, "add", ".")
		git(t.Context(), t, repository, "commit", "--quiet", "-m", tag)
		git(t.Context(), t, repository, "tag", tag)
		commits[tag] = head(t, repository)
	}
	git(t.Context(), t, repository, "tag", "-a", "-m", "annotated", "v0.2.0-rc.1", "new")
	git(t.Context(), t, repository, "tag", "v0.3.0x", "old")
	for _, c := range []struct {
		want, commit string
		inputs       map[string]string
	}{
		{version + ", for " + version, commits["new"], map[string]string{"version": version}},
		{version + ", for " + version, commits[version], nil},
		{"new, for v0.2.0-rc.1", commits["new"], nil},
		{"old, for " + commits["old"], commits["old"], nil},
		{"old, for old", commits[version], map[string]string{"version": version, "ref": "old"}},
		{"new, for main", commits[version], map[string]string{"ref": "main"}},
	} {
		r := newRunner(t)
		inputs := map[string]string{"repository": repository}
		maps.Copy(inputs, c.inputs)
		env, script := gitLabJob(t, c.commit, inputs)
		out, err := r.bash(script, append(env, "CI_PROJECT_DIR="+r.home)...)
		if err != nil || !strings.Contains(out, "the script of "+c.want+" in "+r.home+"/.cache/slipway-ci/") {
			t.Errorf("%v: want %s: %v\n%s", inputs, c.want, err, out)
		}
	}
}

// TestGitLabCache: no key of the cache has a slash, which runners refuse, and machines have folders of their own in it.
func TestGitLabCache(t *testing.T) {
	var c component
	jobs := map[string]job{}
	read(t, "templates/slipway/template.yml", &c, &jobs)
	cache, script := jobs[".slipway"].Cache, strings.Join(jobs[".slipway"].BeforeScript, "\n")
	places := regexp.MustCompile(`\$\[\[ inputs\.(\w+) \]\]`)
	for _, m := range places.FindAllStringSubmatch(cache.Key, -1) {
		input := c.Spec.Inputs[m[1]]
		if input.Options == nil && (input.Regex == "" || regexp.MustCompile(input.Regex).MatchString("a/b")) {
			t.Errorf("the key has %s, which may have a slash", m[1])
		}
	}
	if rest := places.ReplaceAllString(cache.Key, ""); strings.ContainsAny(rest, "/$") || len(rest) == len(cache.Key) {
		t.Errorf("the key is %s", cache.Key)
	}
	if len(cache.Paths) != 1 || !strings.Contains(script, cache.Paths[0]+"$(uname -m)") {
		t.Errorf("%v is kept, and the script installs elsewhere:\n%s", cache.Paths, script)
	}
}

// head is the commit that is checked out in a repository.
func head(t *testing.T, repository string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD")
	cmd.Dir = repository
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// gitLabJob is what a job that extends .slipway does first, with the component's commit and inputs as GitLab puts them
// into the text: https://docs.gitlab.com/ci/yaml/expressions/.
func gitLabJob(t *testing.T, commit string, inputs map[string]string) (env []string, script string) {
	t.Helper()
	var c component
	jobs := map[string]job{}
	read(t, "templates/slipway/template.yml", &c, &jobs)
	place := regexp.MustCompile(`\$\[\[ inputs\.(\w+) \]\]`)
	for name, text := range jobs[".slipway"].Variables {
		value := place.ReplaceAllStringFunc(text, func(match string) string {
			input := place.FindStringSubmatch(match)[1]
			if value, ok := inputs[input]; ok {
				return value
			}
			declared, ok := c.Spec.Inputs[input]
			if !ok {
				t.Errorf("the template declares no input %s", input)
			}
			return declared.Default
		})
		env = append(env, name+"="+strings.ReplaceAll(value, "$[[ component.sha ]]", commit))
	}
	if text := strings.Join(jobs[".slipway"].BeforeScript, "\n"); !strings.Contains(text, "$[[") && text != "" {
		return env, text
	}
	t.Fatal("the script has inputs in its text, which it would run")
	return nil, ""
}

// TestGitLabRepository: an option in its place is not one of git's.
func TestGitLabRepository(t *testing.T) {
	r := newRunner(t)
	env, script := gitLabJob(t, strings.Repeat("0", 40), map[string]string{"repository": "--upload-pack=touch " + filepath.Join(r.home, "ran") + ";"})
	if out, err := r.bash(script, append(env, "CI_PROJECT_DIR="+r.home, "SETUP_REF=file://"+r.home)...); err == nil {
		t.Errorf("it is a repository:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(r.home, "ran")); err == nil {
		t.Error("a value was run")
	}
}

// TestGitLabInputs: defaults are values that their own rules take, and what GitLab says of the component is asked for.
func TestGitLabInputs(t *testing.T) {
	var c component
	jobs := map[string]job{}
	read(t, "templates/slipway/template.yml", &c, &jobs)
	for name, input := range c.Spec.Inputs {
		if input.Description == "" {
			t.Errorf("%s has no description", name)
		}
		if rule, err := regexp.Compile(input.Regex); err != nil || !rule.MatchString(input.Default) {
			t.Errorf("%s: %q does not match %s: %v", name, input.Default, input.Regex, err)
		}
	}
	if rule := regexp.MustCompile(c.Spec.Inputs["ref"].Regex); rule.MatchString("--upload-pack=touch") {
		t.Error("a ref may be an option of git")
	}
	if !slices.Equal(c.Spec.Component, []string{"sha"}) || jobs[".slipway"].Variables["SETUP_COMMIT"] != "$[[ component.sha ]]" {
		t.Errorf("of the component, %v is asked for", c.Spec.Component)
	}
	if jobs["slipway-test"].Extends != ".slipway" {
		t.Error("slipway-test has no slipway")
	}
}

// copyInstaller puts the install script into a repository.
func copyInstaller(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "hack/ci/install.sh")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

package ci_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A component is the GitLab template: what it may be given, and its jobs.
type component struct {
	Spec struct {
		Inputs map[string]struct {
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
	Script       []string
}

// TestGitLabTemplate runs the template's script in a project, with the sources of a repository.
func TestGitLabTemplate(t *testing.T) {
	h := newHost(t)
	repository := checkout(t)
	copyInstaller(t, repository)
	git(t.Context(), t, repository, "init", "--quiet", "--initial-branch=main")
	git(t.Context(), t, repository, "add", ".")
	git(t.Context(), t, repository, "commit", "--quiet", "-m", "sources")
	for name, c := range map[string]struct {
		inputs map[string]string
		want   string
	}{
		"release": {map[string]string{"version": version, "mirror": h.URL, "public_key": h.key}, "slipway " + version + ", played"},
		"sources": {nil, "slipway (devel), small"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			inputs := map[string]string{"repository": repository, "programs": "none"}
			for k, v := range c.inputs {
				inputs[k] = v
			}
			env, script := gitLabJob(t, inputs)
			out, err := r.bash(script+"\nslipway version\necho \"sources: ${SLIPWAY_SOURCE:-none}\"\n", append(env, "CI_PROJECT_DIR="+r.home)...)
			if err != nil || strings.Count(out, c.want) != 2 {
				t.Fatalf("%v\n%s", err, out)
			}
			if name == "release" && !strings.Contains(out, "sources: none") {
				t.Errorf("a release is compared with sources\n%s", out)
			}
		})
	}
}

// gitLabJob is what a job that extends .slipway does first, with inputs as GitLab puts them into the text.
func gitLabJob(t *testing.T, inputs map[string]string) (env []string, script string) {
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
		env = append(env, name+"="+value)
	}
	if text := strings.Join(jobs[".slipway"].BeforeScript, "\n"); !place.MatchString(text) && text != "" {
		return env, text
	}
	t.Fatal("the script has inputs in its text, which it would run")
	return nil, ""
}

// TestGitLabRepository: an option in its place is not one of git's.
func TestGitLabRepository(t *testing.T) {
	r := newRunner(t)
	env, script := gitLabJob(t, map[string]string{"repository": "--upload-pack=touch " + filepath.Join(r.home, "ran") + ";"})
	if out, err := r.bash(script, append(env, "CI_PROJECT_DIR="+r.home, "SETUP_REF=file://"+r.home)...); err == nil {
		t.Errorf("it is a repository:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(r.home, "ran")); err == nil {
		t.Error("a value was run")
	}
}

// TestGitLabInputs: defaults are values that their own rules take.
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

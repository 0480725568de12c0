package ci_test

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/rounds"
)

// An action is action.yml.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct{ Steps []step }
}

// expression is one of GitHub's.
var expression = regexp.MustCompile(`\$\{\{\s*([^}]*?)\s*\}\}`)

// play runs the steps of the action that are scripts, with inputs, as the runner would.
func (r *runner) play(inputs map[string]string, ref string) (string, error) {
	r.t.Helper()
	var a action
	read(r.t, "action.yml", &a)
	values := map[string]string{"github.action_ref": ref, "inputs.cache == 'true' && 'yes' || ''": ""}
	for name, input := range a.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		values["inputs."+name] = value
	}
	var all strings.Builder
	for _, s := range a.Runs.Steps {
		if s.Run == "" {
			continue
		}
		var env []string
		for name, text := range s.Env {
			env = append(env, name+"="+r.evaluate(text, values))
		}
		out, err := r.bash(s.Run, env...)
		all.WriteString(out)
		if err != nil {
			return all.String(), err
		}
	}
	return all.String(), nil
}

// evaluate puts values in place of the expressions in text; an unknown one fails the test.
func (r *runner) evaluate(text string, values map[string]string) string {
	r.t.Helper()
	return expression.ReplaceAllStringFunc(text, func(match string) string {
		value, ok := values[expression.FindStringSubmatch(match)[1]]
		if !ok {
			r.t.Errorf("the test knows no value of %s", match)
		}
		return value
	})
}

// TestActionInstallsRelease: by its version, or by the tag at which the action is used; a second run finds it.
func TestActionInstallsRelease(t *testing.T) {
	h := newHost(t)
	for name, asked := range map[string][2]string{"version": {version, "main"}, "ref": {"", version}} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			inputs := map[string]string{"version": asked[0], "mirror": h.URL, "public-key": h.key, "programs": "none"}
			out, err := r.play(inputs, asked[1])
			if err != nil || !strings.Contains(out, "and compared its checksum and signature") {
				t.Fatalf("%v\n%s", err, out)
			}
			bin := filepath.Join(r.home, ".cache/slipway-ci/bin")
			for file, want := range map[string]string{
				"PATH":   bin,
				"ENV":    "SLIPWAY_CACHE=" + filepath.Join(filepath.Dir(bin), "cache"),
				"OUTPUT": "printed=slipway " + version + ", played",
			} {
				if got := r.told(file); !strings.Contains(got, want+"\n") {
					t.Errorf("GITHUB_%s has %q, want %s", file, got, want)
				}
			}
			for line := range strings.Lines(r.told("OUTPUT")) {
				if !strings.Contains(line, "=") {
					t.Errorf("GITHUB_OUTPUT has a line that the runner refuses: %q", line)
				}
			}
			if out, err := r.bash(`export PATH="$(cat "$GITHUB_PATH"):$PATH"; slipway version`); err != nil || !strings.Contains(out, version) {
				t.Errorf("%v\n%s", err, out)
			}
			before := len(h.asked)
			if out, err := r.play(inputs, asked[1]); err != nil || !strings.Contains(out, "kept from an earlier run") || len(h.asked) != before {
				t.Errorf("a second run asks for %v: %v\n%s", h.asked[before:], err, out)
			}
		})
	}
}

// TestActionRefuses: nothing is installed of what is not the release.
func TestActionRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *host)
		want   string
	}{
		"another archive":   {func(_ *testing.T, h *host) { h.files[archive()] = []byte("other") }, "another checksum than SHA256SUMS lists"},
		"another signature": {func(_ *testing.T, h *host) { h.files["SHA256SUMS"] = append(h.files["SHA256SUMS"], '\n') }, "not signed with the public key"},
		"no signature":      {func(_ *testing.T, h *host) { delete(h.files, "SHA256SUMS.sig") }, "no signature"},
		"no release":        {func(_ *testing.T, h *host) { clear(h.files) }, "has no release " + version + ", and public-key wants a signed one"},
		"no archive":        {func(_ *testing.T, h *host) { delete(h.files, archive()) }, "answers 404"},
		"files outside":     {func(t *testing.T, h *host) { h.put(t, stem(), tarOf(t, entry{name: "../slipway", text: "x"})) }, "files outside its folder"},
		"another version inside": {func(t *testing.T, h *host) {
			h.put(t, stem(), tarOf(t, file("slipway", "#!/bin/sh\necho slipway v9.9.9\n")))
		}, "the archive has another version"},
		"the version of another program": {func(t *testing.T, h *host) {
			h.put(t, stem(), tarOf(t, file("slipway", "#!/bin/sh\necho slipway v9.9.9\necho '  Kubernetes "+version+"'\n")))
		}, "the archive has another version"},
		"a version before the release": {func(t *testing.T, h *host) {
			h.put(t, stem(), tarOf(t, file("slipway", "#!/bin/sh\necho slipway "+version+"-rc.1, played\n")))
		}, "the archive has another version"},
	} {
		t.Run(name, func(t *testing.T) {
			r, h := newRunner(t), newHost(t)
			c.change(t, h)
			out, err := r.play(map[string]string{"version": version, "mirror": h.URL, "public-key": h.key, "programs": "none"}, "main")
			if err == nil || !strings.Contains(out, c.want) || !strings.Contains(out, "next: ") {
				t.Errorf("%v\n%s", err, out)
			}
			if _, err := os.Stat(filepath.Join(r.home, "PATH")); err == nil {
				t.Error("later steps would find a slipway")
			}
		})
	}
}

// TestActionRefusesAnswers: a host that is no release host, or that stops in the middle.
func TestActionRefusesAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"page of a captive portal": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in</html>")) }, "lists no checksum"},
		"server error":             {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "answers 403"},
		"redirect to plain http": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "gives no file"},
		"truncated": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("0000"))
		}, "gives no file"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("0"), 2_000_000)) }, "gives no file"},
		"hanging":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "gives no file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, h := newRunner(t), newHost(t)
			h.Config.Handler = c.answer
			r.env = append(r.env, "SETUP_PATIENCE=1")
			out, err := r.play(map[string]string{"version": version, "mirror": h.URL, "programs": "none"}, "main")
			if err == nil || !strings.Contains(out, c.want) || !strings.Contains(out, "run the job again, or set SLIPWAY_DOWNLOAD=off") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestFolderIsNoCode: the name of the folder is never run, and nothing stays in it but what was installed.
func TestFolderIsNoCode(t *testing.T) {
	r, h := newRunner(t), newHost(t)
	folder := filepath.Join(r.home, "it's; touch ran; '")
	out, err := r.bash(`bash "$GITHUB_ACTION_PATH/hack/ci/install.sh" install`, "SETUP_FOLDER="+folder, "SETUP_VERSION="+version, "SLIPWAY_DOWNLOAD="+h.URL, "SETUP_PROGRAMS=none")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "bin" && name != "env" {
			t.Errorf("%s is left", name)
		}
	}
	if _, err := os.Stat(filepath.Join(r.home, "ran")); err == nil {
		t.Error("the name was run")
	}
	if out, err := r.bash(`. "$FOLDER/env" && slipway version`, "FOLDER="+folder); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestActionVerifiesAgain: a key that comes later is compared with what was installed without it.
func TestActionVerifiesAgain(t *testing.T) {
	r, h := newRunner(t), newHost(t)
	inputs := map[string]string{"version": version, "mirror": h.URL, "programs": "none"}
	if out, err := r.play(inputs, "main"); err != nil || strings.Contains(out, "and signature") {
		t.Fatalf("%v\n%s", err, out)
	}
	inputs["public-key"] = h.key
	if out, err := r.play(inputs, "main"); err != nil || !strings.Contains(out, "and compared its checksum and signature") {
		t.Errorf("%v\n%s", err, out)
	}
	inputs["public-key"] = newHost(t).key
	if out, err := r.play(inputs, "main"); err == nil || !strings.Contains(out, "not signed with the public key") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestActionCompiles: sources that are given, and a version that has no release.
func TestActionCompiles(t *testing.T) {
	rounds.Thorough(t)
	source := checkout(t)
	r := newRunner(t)
	out, err := r.play(map[string]string{"source": source, "programs": "none"}, "main")
	if err != nil || !strings.Contains(out, "compiled "+source) || !strings.Contains(out, "slipway (devel), small") {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := r.told("ENV"); !strings.Contains(got, "SLIPWAY_SOURCE="+source+"\n") {
		t.Errorf("GITHUB_ENV has %q", got)
	}
	main := filepath.Join(source, "cmd/slipway/main.go")
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(main, bytes.Replace(text, []byte("small"), []byte("changed"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := r.play(map[string]string{"source": source, "programs": "none"}, "main"); err != nil || !strings.Contains(out, "changed") {
		t.Errorf("changed sources are not compiled again: %v\n%s", err, out)
	}
}

// TestActionAsksTheProxy: a version without a release is one of the module's.
func TestActionAsksTheProxy(t *testing.T) {
	h := newHost(t)
	for name, mirror := range map[string]string{"no release": h.URL, "downloads are off": "off"} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			r.env = append(r.env, "GOPROXY=off")
			out, err := r.play(map[string]string{"version": "v0.9.9", "mirror": mirror, "programs": "none"}, "main")
			if err == nil || !strings.Contains(out, "github.com/slipway-dev/slipway/cmd/slipway@v0.9.9") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestOffVouchesForNothing: with a public key, downloads that are off still compile; and what is compiled then is not
// taken for what the key has signed.
func TestOffVouchesForNothing(t *testing.T) {
	h := newHost(t)
	r := newRunner(t)
	r.env = append(r.env, "GOPROXY=off")
	inputs := map[string]string{"version": version, "mirror": "off", "public-key": h.key, "programs": "none"}
	if out, err := r.play(inputs, "main"); err == nil || !strings.Contains(out, "github.com/slipway-dev/slipway/cmd/slipway@"+version) {
		t.Errorf("%v\n%s", err, out)
	}
	compiled := planned(t, inputs)
	inputs["mirror"] = h.URL
	if signed := planned(t, inputs); signed == compiled {
		t.Errorf("what is compiled and what is signed are both kept as %s", signed)
	}
}

// planned is the name of what is kept between runs.
func planned(t *testing.T, inputs map[string]string) string {
	t.Helper()
	out, err := newRunner(t).bash(`bash "$GITHUB_ACTION_PATH/hack/ci/install.sh" plan`, "SETUP_FOLDER=x", "SETUP_VERSION="+inputs["version"],
		"SLIPWAY_DOWNLOAD="+inputs["mirror"], "SETUP_PUBLIC_KEY="+inputs["public-key"])
	_, key, ok := strings.Cut(out, "\nkey=")
	if err != nil || !ok {
		t.Fatalf("%v\n%s", err, out)
	}
	return key
}

// TestActionChecksInputs: values that are none are refused before anything is asked or run.
func TestActionChecksInputs(t *testing.T) {
	for name, inputs := range map[string]map[string]string{
		"version":  {"version": "v1.0.0; touch ran"},
		"latest":   {"version": "latest"},
		"programs": {"programs": "$(touch ran)"},
		"mirror":   {"version": version, "mirror": "http://example.com"},
		"port":     {"version": version, "mirror": "http://127.0.0.1:80@example.com/"},
		"user":     {"version": version, "mirror": "http://me:secret@example.com"},
		"source":   {"source": "/nowhere\"; touch ran; \""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			if out, err := r.play(inputs, "main"); err == nil || !strings.Contains(out, "error: ") || !strings.Contains(out, "next: ") {
				t.Errorf("%v\n%s", err, out)
			}
			if out, _ := r.play(inputs, "main"); strings.Contains(out, "secret") {
				t.Errorf("the log has a password: %s", out)
			}
			if _, err := os.Stat(filepath.Join(r.home, "ran")); err == nil {
				t.Error("a value was run")
			}
		})
	}
}

// TestActionIsDocumented: every input and output has a description, and the guide lists it.
func TestActionIsDocumented(t *testing.T) {
	var a action
	read(t, "action.yml", &a)
	guide, err := os.ReadFile(filepath.Join(root, "docs/guides/ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(a.Inputs)), slices.Collect(maps.Keys(a.Outputs))) {
		if a.Inputs[name].Description+a.Outputs[name].Description == "" || !bytes.Contains(guide, []byte("| `"+name+"` |")) {
			t.Errorf("%s is not described in action.yml and docs/guides/ci.md", name)
		}
	}
}

// TestActionTrusts: on a machine that is the job's alone all programs are started, as all users may write to GitHub's
// folder of tools. Elsewhere, and where the user has a value, nothing changes.
func TestActionTrusts(t *testing.T) {
	h := newHost(t)
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"GitHub's runner":       {[]string{"RUNNER_ENVIRONMENT=github-hosted"}, "/"},
		"a runner of one's own": {[]string{"RUNNER_ENVIRONMENT=self-hosted"}, ""},
		"GitLab's container":    {[]string{"CI_DISPOSABLE_ENVIRONMENT=true"}, "/"},
		"GitLab's shell":        {nil, ""},
		"the user's value":      {[]string{"RUNNER_ENVIRONMENT=github-hosted", "SLIPWAY_TRUST=/opt/go"}, "/opt/go"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			r.env = append(r.env, "SLIPWAY_TRUST=")
			r.env = append(r.env, c.env...)
			if out, err := r.play(map[string]string{"version": version, "mirror": h.URL, "public-key": h.key, "programs": "none"}, "main"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			later, want := "", "SLIPWAY_TRUST="+c.want+"\n"
			for line := range strings.Lines(r.told("ENV")) {
				if strings.HasPrefix(line, "SLIPWAY_TRUST=") {
					later += line
				}
			}
			if c.want == "" {
				want = ""
			}
			if later != want {
				t.Errorf("later steps have %q, want %q", later, want)
			}
			if out := r.succeed(`. "$HOME/.cache/slipway-ci/env"; echo "trusts $SLIPWAY_TRUST"`); out != "trusts "+c.want+"\n" {
				t.Errorf("a shell %s", out)
			}
		})
	}
}

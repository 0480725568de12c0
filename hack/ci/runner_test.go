// Package ci_test plays the runners of CI services: it runs the steps of action.yml, of the GitLab template and of the
// workflows with bash, against a release host that the test is itself.
package ci_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// root is the repository's.
const root = "../.."

// version is that of the release that the host has.
const version = "v0.1.0"

// A step is one of a job's or a composite action's.
type step struct {
	ID, Name, If, Uses, Run, Shell string
	Env, With                      map[string]string
}

// read decodes the first documents of a YAML file of the repository.
func read(t *testing.T, name string, into ...any) {
	t.Helper()
	file, err := os.Open(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	for _, v := range into {
		if err := decoder.Decode(v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// A runner has a home and the files by which steps of GitHub's runners speak to later ones.
type runner struct {
	t    *testing.T
	home string
	env  []string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	home := t.TempDir()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	telemetry := filepath.Join(home, ".config", "go", "telemetry")
	if err := os.MkdirAll(telemetry, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o600); err != nil { // it is written while the folder is removed
		t.Fatal(err)
	}
	r := &runner{t: t, home: home}
	r.env = append(r.env, "PATH="+pathWithout(t, "slipway"))
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "TMPDIR", "SLIPWAY_TRUST"} {
		if value := goEnv(t, name); value != "" {
			r.env = append(r.env, name+"="+value)
		}
	}
	r.env = append(r.env, "HOME="+home, "GITHUB_ACTION_PATH="+checkout, "NO_PROXY=127.0.0.1")
	for _, name := range []string{"PATH", "ENV", "OUTPUT"} {
		r.env = append(r.env, "GITHUB_"+name+"="+filepath.Join(home, name))
	}
	return r
}

// pathWithout is PATH without a program, which this machine may have: a runner has none. A folder with it gives way to
// one with links to the others.
func pathWithout(t *testing.T, program string) string {
	t.Helper()
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for i, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			dirs[i] = linksWithout(t, dir, program)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// linksWithout makes a folder with links to what is in dir, but to one.
func linksWithout(t *testing.T, dir, name string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	links := t.TempDir()
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		if err := os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(links, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return links
}

// TestRunnerHasNoSlipway: neither from this machine, nor does it lack what is beside that.
func TestRunnerHasNoSlipway(t *testing.T) {
	dir := programs(t, map[string]string{"slipway": "echo another", "beside": "echo beside"})
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out := newRunner(t).succeed("beside; command -v slipway || echo none"); out != "beside\nnone\n" {
		t.Error(out)
	}
}

// goEnv is a setting of the go command, or else a variable of the environment.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	if value := os.Getenv(name); value != "" || !strings.HasPrefix(name, "GO") {
		return value
	}
	settings, err := goSettings()
	if err != nil {
		t.Fatal(err)
	}
	return settings[name]
}

// goSettings are those of the go command, asked once.
var goSettings = sync.OnceValues(func() (settings map[string]string, err error) {
	out, err := exec.Command("go", "env", "-json").Output()
	return settings, errors.Join(err, json.Unmarshal(out, &settings))
})

// bash runs a script as `shell: bash` does.
func (r *runner) bash(script string, env ...string) (string, error) {
	r.t.Helper()
	file := filepath.Join(r.home, "step.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	cmd.Dir, cmd.Env = r.home, append(append([]string{}, r.env...), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// programs is a folder with scripts, for PATH.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// installer runs the script.
const installer = `bash "$GITHUB_ACTION_PATH/hack/ci/install.sh"`

// install is a script that installs the release of a host into a folder.
func (r *runner) install(h *host, folder string) string {
	r.env = append(r.env, "SETUP_FOLDER="+folder, "SETUP_VERSION="+version, "SLIPWAY_DOWNLOAD="+h.URL, "SETUP_PROGRAMS=none")
	return installer + " install"
}

// told is what steps wrote for later ones: PATH, ENV or OUTPUT.
func (r *runner) told(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.home, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// A host is a release host: files below the version, and what it does with each request.
type host struct {
	*httptest.Server
	files map[string][]byte
	key   string // public, in base64
	asked []string
}

// newHost serves a release whose command prints its version.
func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{files: map[string][]byte{}}
	h.put(t, stem(), tarOf(t, file("slipway", played+"echo '  Kubernetes v1.37.1'\n")))
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

// put sets the archive, and checksums and a signature that fit.
func (h *host) put(t *testing.T, stem string, archive []byte) {
	t.Helper()
	h.files[stem+".tar.gz"] = archive
	h.sign(t, fmt.Appendf(nil, "%x  other.tar.gz\n%x  %s.tar.gz\n", sha256.Sum256(nil), sha256.Sum256(archive), stem))
}

// sign sets the checksums, and a signature that fits.
func (h *host) sign(t *testing.T, sums []byte) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h.key, h.files["SHA256SUMS"] = base64.StdEncoding.EncodeToString(public), sums
	h.files["SHA256SUMS.sig"] = []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(private, sums)) + "\n")
}

func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	name, found := strings.CutPrefix(r.URL.Path, "/"+version+"/")
	h.asked = append(h.asked, name)
	text, ok := h.files[name]
	if !found || !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(text)
}

// archive is the name of the host's archive for this platform.
func archive() string {
	return fmt.Sprintf("slipway_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
}

// checkout makes a folder that has the sources of a small slipway, and returns its path.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":              "module github.com/slipway-dev/slipway\n\ngo 1.26\n",
		"go.sum":              "",
		"cmd/slipway/main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"slipway (devel), small\\n\") }\n",
		"internal/x/x.go":     "package x\n",
		"project/x.go":        "package project\n",
		"cluster/x.go":        "package cluster\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// git runs a git command in dir, with nothing of the user's configuration.
func git(ctx context.Context, t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

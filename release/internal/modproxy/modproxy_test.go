package modproxy_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/release/internal/commit"
	"github.com/slipway-dev/slipway/release/internal/modproxy"
)

const module = "github.com/slipway-dev/slipway"

func run(t *testing.T, dir string, env []string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// repository makes one with tags of all modules.
func repository(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, m := range modproxy.Modules() {
		path := strings.TrimSuffix(module+"/"+m, "/.")
		write(t, filepath.Join(dir, m, "go.mod"), "module "+path+"\n\ngo 1.26.0\n")
		write(t, filepath.Join(dir, m, "a.go"), "package a\n")
		write(t, filepath.Join(dir, m, "a_test.go"), "package a\n")
		write(t, filepath.Join(dir, m, "testdata", "text"), m)
	}
	write(t, filepath.Join(dir, "LICENSE"), "free")
	write(t, filepath.Join(dir, ".gitattributes"), "hidden.go export-ignore\nsubst.go export-subst\n*.txt text eol=crlf\n")
	write(t, filepath.Join(dir, "hidden.go"), "package a\n")
	write(t, filepath.Join(dir, "subst.go"), "package a\n\n// $Format:%H$\n")
	write(t, filepath.Join(dir, "lines.txt"), "one\ntwo\n")
	write(t, filepath.Join(dir, "cluster", "inner", "go.mod"), "module example.com/inner\n")
	write(t, filepath.Join(dir, "vendor", "modules.txt"), "## none\n")
	env := []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	for _, args := range []string{"init -q", "add .", "commit -qm one", "tag v0.1.0", "tag cluster/v0.1.0", "tag operator/v0.1.0"} {
		run(t, dir, env, append([]string{"git"}, strings.Fields(args)...)...)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// sum is the checksum of a module as the go command gets it.
func sum(t *testing.T, path string, env ...string) string {
	t.Helper()
	env = append(env, "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw", "GOSUMDB=off", "GOWORK=off", "GOPRIVATE=", "GONOPROXY=")
	var answer struct{ Sum, GoModSum string }
	if err := json.Unmarshal(run(t, t.TempDir(), env, "go", "mod", "download", "-json", path+"@v0.1.0"), &answer); err != nil || answer.Sum == "" {
		t.Fatal(answer, err)
	}
	return answer.Sum + " " + answer.GoModSum
}

// TestSameAsTagged: the modules are those that the go command makes of a repository with tags.
func TestSameAsTagged(t *testing.T) {
	dir := repository(t)
	r, err := commit.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := modproxy.Write(t.TempDir(), "v0.1.0", r)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modproxy.Modules() {
		path := strings.TrimSuffix(module+"/"+m, "/.")
		ours := sum(t, path, "GOPROXY="+p.URL())
		theirs := sum(t, path, "GOPROXY=direct", "GOVCS=*:git", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+modproxy.FileURL(dir)+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module,
			"GIT_ALLOW_PROTOCOL=file:https")
		if ours != theirs {
			t.Errorf("%s: %s, and of the tag %s", path, ours, theirs)
		}
	}
}

// TestNoModule: a commit without one of the modules has no release.
func TestNoModule(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module "+module+"\n")
	env := []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	for _, args := range []string{"init -q", "add .", "commit -qm one"} {
		run(t, dir, env, append([]string{"git"}, strings.Fields(args)...)...)
	}
	r, err := commit.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modproxy.Write(t.TempDir(), "v0.1.0", r); err == nil || !strings.Contains(err.Error(), "cluster") {
		t.Error(err)
	}
}

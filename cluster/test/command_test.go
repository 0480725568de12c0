package test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/version"
)

// run runs a program to its end.
func run(t *testing.T, path string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		status = exit.ExitCode()
	}
	return out.String(), errs.String(), status
}

func TestVersion(t *testing.T) {
	out, _, status := run(t, programPath, "version")
	var got struct {
		Protocol            int
		Version, Kubernetes string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
		t.Fatalf("%q, status %d, %v", out, status, err)
	}
	if got.Protocol != protocol.Number || got.Kubernetes != version.Kubernetes || got.Version == "" {
		t.Errorf("got %+v", got)
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		status int
		stderr string
	}{
		{nil, 2, "usage:"},
		{[]string{"dance"}, 2, `unknown command "dance"`},
		{[]string{"serve"}, 2, "--config"},
		{[]string{"serve", "--config", "a", "b"}, 2, `"b"`},
		{[]string{"serve", "--dance"}, 2, "dance"},
		{[]string{"version", "now"}, 2, "takes no arguments"},
		{[]string{"serve", "--help"}, 0, "-stdio"},
	} {
		_, stderr, status := run(t, programPath, tt.args...)
		if status != tt.status || !strings.Contains(stderr, tt.stderr) {
			t.Errorf("%q: status %d, want %d; stderr %q", tt.args, status, tt.status, stderr)
		}
	}
}

func TestMissingConfigurationFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "absent.json")
	_, stderr, status := run(t, programPath, "serve", "--config", file)
	if status != 1 || !strings.Contains(stderr, file) {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}

var update = flag.Bool("update", false, "record what the program says")

func TestLinksAreTheStockPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"etcd":           {[]string{"--version"}, "etcd Version: 3.7"},
		"kube-apiserver": {[]string{"--version"}, "Kubernetes v" + version.Kubernetes},
		"kubectl":        {[]string{"version", "--client"}, "Client Version: v" + version.Kubernetes},
	} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(programPath, link); err != nil {
			t.Fatal(err)
		}
		out, stderr, status := run(t, link, tt.args...)
		if status != 0 || !strings.Contains(out, tt.want) {
			t.Errorf("%s %q: status %d, stdout %q, stderr %q", name, tt.args, status, out, stderr)
		}
	}
}

// TestHelpIsRecorded asks for help twice: with these arguments alone, the recorded text answers.
func TestHelpIsRecorded(t *testing.T) {
	link := filepath.Join(t.TempDir(), "kube-apiserver")
	if err := os.Symlink(programPath, link); err != nil {
		t.Fatal(err)
	}
	want, stderr, status := run(t, link, "--help", "--v=0")
	if status != 0 || !strings.Contains(want, "--etcd-servers") {
		t.Fatalf("status %d, stdout %q, stderr %q", status, want, stderr)
	}
	if *update {
		if err := os.WriteFile("../helptext/kube-apiserver.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return // the program has the text when it is built again
	}
	if got, stderr, status := run(t, link, "--help"); got != want || status != 0 || stderr != "" {
		t.Errorf("status %d, stderr %q, and the recorded text is another; run: go test -C cluster ./test -run TestHelpIsRecorded -update, and build again", status, stderr)
	}
}

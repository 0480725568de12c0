//go:build unix

package proving

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/prove"
)

// bench0 is a bench with a scenario in a folder of its own.
func bench0(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "prove"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &bench{Session: &operation.Session{Dir: dir, Environ: os.Environ()}, proof: Proof{Scenario: "prove/s.yaml"}, scratch: t.TempDir()}
}

// TestExec: a command runs in the scenario's folder with the kubeconfig, and prints to the log.
func TestExec(t *testing.T) {
	b := bench0(t)
	script := filepath.Join(b.Dir, "prove", "hello.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $1 $KUBECONFIG; basename $(pwd); exit $2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.exec(t.Context(), []string{"./hello.sh", "world", "0"}, "kc"); err != nil {
		t.Fatal(err)
	}
	if got, want := tail(b.log()), "world kc\nprove"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := b.exec(t.Context(), []string{"./hello.sh", "world", "3"}, "kc"); err == nil || err.Error() != "./hello.sh: exit status 3" {
		t.Error(err)
	}
	if err := b.exec(t.Context(), []string{"no-such-program"}, "kc"); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Error(err)
	}
}

// TestExecLimit: a command that takes too long is killed with its children.
func TestExecLimit(t *testing.T) {
	b := bench0(t)
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
	defer cancel()
	if err := b.exec(ctx, []string{"sh", "-c", "(sleep 600; echo child) & sleep 600"}, "kc"); !errors.Is(err, late) {
		t.Error(err)
	}
}

// TestServices: each cluster has services of its own, whose ports are known to all words of the scenario, and which end
// with the proof. One that ends by itself ends the proof.
func TestServices(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	b := bench0(t)
	var ended error
	stopped := make(chan error, 9)
	b.stop = func(err error) { stopped <- err }
	b.env = map[string]string{"URL": "http://127.0.0.1:{web.port}/"}
	b.services = []service{
		{Name: "web", Command: []string{"python3", "-m", "http.server", "--bind", "127.0.0.1", "{port}"}, Reset: []string{"sh", "-c", "echo emptied {port} {other.port}; exit $CODE"}, line: 3},
		{Name: "other", Command: []string{"sh", "-c", "echo {web.port}; exec sleep 600"}, line: 4},
	}
	ports, err := b.host(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.host(t.Context()); err != nil || len(b.hosted) != 4 || b.hosted[0].port == b.hosted[2].port {
		t.Fatal(err)
	}
	web := b.hosted[0]
	if got := variables(b.env, ports); len(got) != 1 || got[0] != "URL=http://127.0.0.1:"+web.port+"/" {
		t.Error(got)
	}
	reset := b.resetter(b.hosted[:2], ports, "kc")
	b.Environ = append(b.Environ, "CODE=0")
	if err := reset(t.Context()); err != nil || tail(b.log()) != "emptied "+web.port+" "+b.hosted[1].port {
		t.Error(err, tail(b.log()))
	}
	b.Environ = append(b.Environ, "CODE=1")
	if err := reset(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "line 3: service web: reset: sh: exit status 1; the log ends with:\nemptied") {
		t.Error(err)
	}
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	for range b.hosted {
		ended = <-stopped
	}
	if _, ok := errors.AsType[*prove.ScenarioError](ended); !ok {
		t.Error(ended)
	}
	b.services = []service{{Name: "web", Command: []string{"sh", "-c", "echo no port {port}; exit 4"}, line: 5}}
	if _, err := b.host(t.Context()); err == nil || err.Error() != "line 5: service web: exit status 4; its log ends with:\nno port "+b.hosted[len(b.hosted)-1].port {
		t.Error(err)
	}
}

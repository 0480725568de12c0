//go:build unix

package proving

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/operation"
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
	if got, want := b.tail(), "world kc\nprove"; got != want {
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

package certmanager

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Background())
	os.Exit(m.Run())
}

// patience is for a busy machine: what is waited for takes some seconds.
const patience = 5 * time.Minute

// eventually waits until check finds nothing wrong, and fails the test with what it found last.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, errors.Join(err, last))
	}
}

// command is one that runs in dir, with these variables besides the test's own.
func command(t *testing.T, dir string, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	return c
}

// output is what a command writes, which must succeed.
func output(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(c.Args, " "), err, out, stderr.String())
	}
	return string(out)
}

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// asController in the environment makes the test's program the controllers' one: it is linked once.
const asController = "RUN_CERT_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(asController) != "" {
		main()
		return
	}
	ctrl.SetLogger(klog.Background())
	os.Exit(m.Run())
}

// patience is for a busy machine: what is waited for takes a second or two.
const patience = 2 * time.Minute

// eventually waits until check finds nothing wrong, and fails the test with what it found last.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
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

// start runs a command until the test ends; when the test has failed by then, what it wrote is shown.
func start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended
		err := c.Wait()
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s: %v\n%s", c.Args[0], err, text)
		}
	})
}

//go:build unix

package clustertest

import (
	"bufio"
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// TestEndsWithTheProcess: however a process ends that did not stop its cluster, the cluster ends.
func TestEndsWithTheProcess(t *testing.T) {
	for _, test := range []struct {
		role string
		kill os.Signal
		args []string
	}{
		{role: "forget"},
		{role: "exit"},
		{role: "panic"},
		{role: "goroutine panic"},
		{role: "timeout", args: []string{"-test.timeout=1s"}},
		{role: "killed", kill: syscall.SIGKILL},
		{role: "terminated", kill: syscall.SIGTERM},
	} {
		t.Run(test.role, func(t *testing.T) {
			t.Parallel()
			dir, server, end := startRole(t, test.role, test.args...)
			end(test.kill)
			eventually(t, "the program ends", func(context.Context) (bool, error) { return unlocked(dir), nil })
			if conn, err := net.Dial("tcp", server); err == nil {
				_ = conn.Close()
				t.Errorf("somebody still listens on %s", server)
			}
		})
	}
}

// startRole starts this test binary in a role, and returns when its cluster is ready.
// The function it returns sends a signal and waits for the process, not for its cluster.
func startRole(t *testing.T, role string, args ...string) (dir, server string, end func(os.Signal)) {
	t.Helper()
	needProgram(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-test.run=^TestRole$"}, args...)...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, "TMPDIR="+t.TempDir())
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if d, host, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(host, "https://") {
			u, err := url.Parse(host)
			if err != nil {
				t.Fatal(err)
			}
			return d, u.Host, func(s os.Signal) {
				if s != nil {
					_ = cmd.Process.Signal(s)
				}
				late := time.AfterFunc(patience, func() {
					t.Error("the process does not end")
					_ = cmd.Process.Kill()
				})
				defer late.Stop()
				for lines.Scan() {
				}
				if err := cmd.Wait(); err == nil && role != "forget" {
					t.Error("the process ended well")
				}
			}
		}
	}
	t.Fatalf("the role %s started no cluster: %v", role, cmd.Wait())
	return "", "", nil
}

// unlocked tells whether no program holds the lock in dir: it is gone, whoever reaps it. The
// folder may be gone as well.
func unlocked(dir string) bool {
	path := filepath.Join(dir, "lock")
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return true
	}
	l := flock.New(path)
	ok, err := l.TryLock()
	if ok {
		_ = l.Unlock()
	}
	return ok && err == nil
}

// TestDeathIsTold: a cluster that dies beneath a test does not end as a mere refused connection.
func TestDeathIsTold(t *testing.T) {
	needProgram(t)
	c, err := StartContext(t.Context(), Controllers(false))
	if err != nil {
		t.Fatal(err)
	}
	killProgram(t, c)
	eventually(t, "the connection ends", func(context.Context) (bool, error) {
		select {
		case <-c.conn.Ended():
			return true, nil
		default:
			return false, nil
		}
	})
	_, err = c.NamespaceContext(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "the cluster program ended") {
		t.Errorf("a namespace of a dead cluster: %v", err)
	}
	if err := c.Close(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("Close of a dead cluster returned %v, want how it died", err)
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", c.dir, err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("the second Close returned %v", err)
	}
}

// killProgram kills the program behind c.
func killProgram(t *testing.T, c *Cluster) {
	t.Helper()
	var status struct{ PID int }
	if err := c.conn.Call(t.Context(), "status", nil, &status); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

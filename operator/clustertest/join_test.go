//go:build unix

package clustertest

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/find"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// host starts a program for several processes, and returns its socket and a connection to it.
func host(t *testing.T) (string, *protocol.Conn) {
	t.Helper()
	needProgram(t)
	path, err := find.Program(t.Context(), os.Getenv, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "ct-") // short: the path of a socket has about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	config := protocol.Config{Protocol: protocol.Number, Name: "host", Dir: dir, Socket: filepath.Join(dir, "socket"), Spec: newSettings([]Option{Controllers(false)}).spec}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "serve", "--stdio", "--config", file)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn := protocol.NewConn(stdout, stdin)
	t.Cleanup(func() {
		_ = stdin.Close()
		<-conn.Ended()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	if _, err := conn.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return config.Socket, conn
}

// guests returns the names of the logical clusters in a program.
func guests(t *testing.T, host *protocol.Conn) []string {
	t.Helper()
	var status struct{ Logical []struct{ Name string } }
	if err := host.Call(t.Context(), "status", nil, &status); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range status.Logical {
		names = append(names, l.Name)
	}
	return names
}

// TestSharedProgram: clusters of several processes live in one program, and go with their processes.
func TestSharedProgram(t *testing.T) {
	socket, program := host(t)
	t.Setenv(sharedVariable, socket)
	var dir string
	t.Run("stopped", func(t *testing.T) {
		c := Start(t, CRDs("testdata/crds"), Controllers(false))
		dir = c.dir
		create(t, c.Client(t), widget("default", "a"))
		if names := guests(t, program); len(names) != 1 || names[0] != c.logical {
			t.Errorf("the program has %v, want %s", names, c.logical)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
	if names := guests(t, program); len(names) > 0 {
		t.Errorf("%v are left of a test", names)
	}
	_, _, end := startRole(t, "killed")
	if names := guests(t, program); len(names) != 1 {
		t.Errorf("the program has %v, want that of the other process", names)
	}
	end(syscall.SIGKILL)
	eventually(t, "the cluster of a killed process goes", func(context.Context) (bool, error) {
		return len(guests(t, program)) == 0, nil
	})
}

// TestSharedProgramIsMissed: a socket where nobody listens is told, not worked around.
func TestSharedProgramIsMissed(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	t.Setenv(sharedVariable, socket)
	r := &recorder{TB: t}
	r.attempt(func() { Start(r) })
	for _, want := range []string{sharedVariable, "where: " + socket, "no such file", "next:  slipway test --shared"} {
		if !strings.Contains(r.said, want) {
			t.Errorf("the test said %q, want %q in it", r.said, want)
		}
	}
}

// TestSharedProgramIsOfNoUse: something else that listens is recognised.
func TestSharedProgramIsOfNoUse(t *testing.T) {
	dir, err := os.MkdirTemp("", "ct-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write([]byte(`{"event": "hello", "protocol": 99}` + "\n"))
			_ = conn.Close()
		}
	}()
	t.Setenv(sharedVariable, socket)
	_, err = StartContext(t.Context())
	if err == nil || !strings.Contains(err.Error(), "protocol 99") {
		t.Errorf("StartContext returned %v", err)
	}
}

// TestFailureIsTold: a test that gets no cluster fails with the way to one.
func TestFailureIsTold(t *testing.T) {
	t.Setenv(find.Variable, "/nowhere/slipway-cluster")
	p := ForPackage()
	for range 2 { // every test of a package
		r := &recorder{TB: t}
		r.attempt(func() { p.Cluster(r) })
		for _, want := range []string{"clustertest: ", "where: /nowhere/slipway-cluster", "next:  export SLIPWAY_CLUSTER=$(slipway cluster build)"} {
			if !strings.Contains(r.said, want) {
				t.Errorf("the test said %q, want %q in it", r.said, want)
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

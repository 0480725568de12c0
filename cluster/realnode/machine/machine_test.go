//go:build linux

package machine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// built is the folder of slipway-container, which all tests use.
var built string

func TestMain(m *testing.M) {
	if os.Args[0] == "slipway-node" {
		beNode()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == nodeconfig.PlainVerb {
		bePlainNode()
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if built, err = os.MkdirTemp("", "machine-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(built)
	build := exec.Command("go", "build", "-o", built, "../../cmd/slipway-container")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	// Root's machines have a user of their own, who is to find the program.
	if err := errors.Join(os.Chmod(built, 0o755), build.Run()); err != nil {
		fmt.Fprintln(os.Stderr, "build slipway-container:", err)
		return 1
	}
	return m.Run()
}

func program() string { return filepath.Join(built, "slipway-container") }

func start(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := machine.Start(t.Context(), machine.Options{Program: program(), State: t.TempDir(), Log: os.Stderr})
	if errors.Is(err, machine.ErrForbidden) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	return m
}

// TestNetworkOfItsOwn: two machines have the same addresses and do not disturb one another.
func TestNetworkOfItsOwn(t *testing.T) {
	const address = "10.0.0.9:80"
	machines := []*machine.Machine{start(t), start(t)}
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	for _, m := range machines {
		l, err := m.Listen(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if l.Addr().String() != address {
			t.Errorf("listens on %s", l.Addr())
		}
		if _, err := m.Listen(ctx, address); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second listener: %v", err)
		}
		if _, err := m.DialContext(ctx, "tcp", "192.0.2.1:80"); !errors.Is(err, syscall.ENETUNREACH) {
			t.Errorf("outside of the network: %v", err)
		}
	}
}

// TestStop: with the machine its process ends, and who asks it for something is told so.
func TestStop(t *testing.T) {
	m := start(t)
	m.Stop()
	select {
	case <-m.Ended():
	default:
		t.Error("it has not ended")
	}
	if m.Status() == "" {
		t.Error("it does not say how it ended")
	}
	if _, err := m.Listen(t.Context(), "10.0.0.9:80"); !errors.Is(err, fdpass.ErrGone) {
		t.Errorf("a machine that has ended: %v", err)
	}
}

// TestProgramForOthers: a program that its owner keeps to himself cannot be that of nodes, and what is said names the
// way out.
func TestProgramForOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user's nodes have no users of their own")
	}
	text, err := os.ReadFile(program())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "slipway-container")
	if err := os.WriteFile(path, text, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = machine.Start(t.Context(), machine.Options{Program: path, State: t.TempDir(), Log: os.Stderr})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "chmod a+rx "+path) {
		t.Errorf("%v", err)
	}
}

//go:build linux

package machine_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/handover"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
)

func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slipway-container")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/slipway-container").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func start(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := machine.Start(t.Context(), machine.Options{Program: program(t), State: t.TempDir(), Log: os.Stderr})
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
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	const address = "10.0.0.9:80"
	for _, m := range []*machine.Machine{start(t), start(t)} {
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
	if _, err := m.Listen(t.Context(), "10.0.0.9:80"); !errors.Is(err, handover.ErrGone) {
		t.Errorf("a machine that has ended: %v", err)
	}
}

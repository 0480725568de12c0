package testlock_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/testlock"
)

// holder makes a process of this test hold a name until its input ends.
const holder = "SLIPWAY_GATE_HOLDS"

// TestHold: what another process has is waited for, and had once that has died.
func TestHold(t *testing.T) {
	if name := os.Getenv(holder); name != "" {
		testlock.Hold(t, name)
		_, _ = os.Stdout.WriteString("held\n")
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	name := "test-" + strconv.Itoa(os.Getpid())
	other := exec.Command(os.Args[0], "-test.run=^TestHold$")
	other.Env = append(os.Environ(), holder+"="+name)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 5)
	if _, err := out.Read(said); err != nil || !strings.HasPrefix(string(said), "held") {
		t.Fatalf("%q, %v", said, err)
	}
	lock := flock.New(filepath.Join(os.TempDir(), "slipway-test-gate", name))
	if held, err := lock.TryLock(); held || err != nil {
		t.Errorf("two have the same: %t, %v", held, err)
	}
	had := make(chan struct{})
	go func() {
		testlock.Hold(t, name)
		close(had)
	}()
	_ = other.Process.Kill()
	_ = other.Wait()
	<-had
}

// TestPorts: no port is given twice, and each can be listened to.
func TestPorts(t *testing.T) {
	given := map[int]bool{}
	for range 50 {
		port := testlock.Port(t)
		if given[port] {
			t.Errorf("port %d is given twice", port)
		}
		given[port] = true
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}

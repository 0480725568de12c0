package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// TestMain makes the tests' program a cluster program, too, where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		endSlowly()
	}
	if os.Getenv(claims) != "" {
		claim()
		return
	}
	os.Exit(m.Run())
}

// endSlowly is ready, is then heard of no more, and ends a moment later, as a program does of which the kernel has much
// to clear away.
func endSlowly() {
	fmt.Printf(`{"event": "hello", "protocol": %d}`+"\n"+`{"event": "ready"}`+"\n", protocol.Number)
	_ = os.Stdout.Close()
	time.Sleep(200 * time.Millisecond)
	os.Exit(3)
}

// TestDiedJustNow: Close tells of a program that has died, also where the system has not yet told of its end.
func TestDiedJustNow(t *testing.T) {
	s, _, err := Start(t.Context(), os.Args[0], protocol.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	<-s.Ended()
	var told *fault.Error
	if err := s.Close(); !errors.As(err, &told) || !errors.Is(err, protocol.ErrEnded) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("closed with %v, want how the program ended", err)
	}
	if _, err := os.Stat(s.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", s.Dir, err)
	}
}

package registry_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/registry"
)

// TestSixthIsReserved: nobody listens at the registry's port of [::1], which is asked first for localhost, and where
// somebody does the registry has another port.
func TestSixthIsReserved(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	r, err := registry.Start(registry.Options{Dir: t.TempDir(), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := net.SplitHostPort(r.Address())
	if err != nil || strings.HasSuffix(l.Addr().String(), ":"+got) {
		t.Errorf("it is at %s, beside somebody at %s: %v", r.Address(), l.Addr(), err)
	}
	for _, address := range []string{"[::1]:" + got, "[::]:" + got} {
		if thief, err := net.Listen("tcp6", address); err == nil {
			t.Errorf("somebody listens at %s", thief.Addr())
			_ = thief.Close()
		}
	}
	if _, err := net.Dial("tcp6", "[::1]:"+got); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("at [::1]: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	again, err := net.Listen("tcp6", "[::1]:"+got)
	if err != nil {
		t.Fatalf("it stays reserved: %v", err)
	}
	_ = again.Close()
}

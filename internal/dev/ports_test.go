package dev

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestProbesElsewhere: what listens at the address of the health probes does not keep a manager from starting,
// unless it was told to use that address or is not known to have the flag.
func TestProbesElsewhere(t *testing.T) {
	usual, free := listen(t)
	moved := []string{"--health-probe-bind-address=127.0.0.1:0", "--leader-elect"}
	for _, test := range []struct {
		program    string // words in it
		args, want []string
	}{
		{"--health-probe-bind-address " + usual, []string{"--leader-elect"}, moved},
		{"--health-probe-bind-address " + usual, []string{"-health-probe-bind-address", usual}, []string{"-health-probe-bind-address", usual}},
		{"--health-probe-bind-address :1", []string{"--leader-elect"}, []string{"--leader-elect"}},
		{"--health-addr " + usual, nil, nil},
	} {
		program := filepath.Join(t.TempDir(), "manager")
		if err := os.WriteFile(program, []byte(test.program), 0o755); err != nil {
			t.Fatal(err)
		}
		o := Options{Handler: report.Discard}
		if got, err := o.probesElsewhere(program, usual, test.args); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s with %q: %q, %v; want %q", test.program, test.args, got, err, test.want)
		}
	}
	free()
	o := Options{Handler: report.Discard}
	if got, err := o.probesElsewhere("not read", usual, nil); err != nil || got != nil {
		t.Errorf("at a free address: %q, %v", got, err)
	}
}

// TestWebhooksTaken: the cluster is not told to ask who serves there already.
func TestWebhooksTaken(t *testing.T) {
	address, free := listen(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	err = webhooksTaken(port)
	if refused, ok := errors.AsType[*report.Error](err); !ok || refused.Where != address || refused.Next == "" {
		t.Errorf("taken: %v", err)
	}
	free()
	if err := webhooksTaken(port); err != nil {
		t.Errorf("free: %v", err)
	}
}

// listen takes an address of loopback, until free is called.
func listen(t *testing.T) (address string, free func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), func() { l.Close() }
}

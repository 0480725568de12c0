package handover_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/handover"
)

// addresses are this machine's by which others could reach it.
func addresses(t *testing.T) (all []string) {
	t.Helper()
	found, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range found {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			all = append(all, p.Addr().String())
		}
	}
	return all
}

// TestNodeHasNoOtherWays: a node that asks for whatever it likes reaches what it needs, and no service of this machine
// or its network.
func TestNodeHasNoOtherWays(t *testing.T) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	path := filepath.Join(t.TempDir(), "socket")
	unixListener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer unixListener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, _ := pair(t, handover.Ways{Own: []string{"127.0.0.1:1"}, Named: []string{"localhost"}})
	hosts := append(addresses(t), "127.0.0.1", "127.0.0.2", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::]", "",
		"169.254.169.254", "10.0.0.1", "192.168.1.1", "100.64.0.1", "[fe80::1%lo]", "[fd00::1]", "[64:ff9b::7f00:1]")
	for _, host := range hosts {
		conn, err := client.DialContext(ctx, "tcp", host+":"+port)
		if err == nil || !strings.Contains(err.Error(), handover.ErrNoWay.Error()) && !strings.Contains(err.Error(), "no such host") {
			t.Errorf("%s: %v, %v", host, conn, err)
		}
	}
	for _, network := range []string{"unix", "unixpacket", "udp", "ip4:icmp", ""} {
		if _, err := client.DialContext(ctx, network, path); err == nil || !strings.Contains(err.Error(), handover.ErrNoWay.Error()) {
			t.Errorf("%q: %v", network, err)
		}
	}
	if ctx.Err() != nil {
		t.Error("refusals take too long")
	}
}

// TestNodeHasNoWayBack: an address that this machine's routes lead to itself is none to go to, though it looks public.
func TestNodeHasNoWayBack(t *testing.T) {
	back := errors.New("the route leads back")
	var asked []string
	client, _ := pair(t, handover.Ways{Route: func(ip netip.Addr) error {
		asked = append(asked, ip.String())
		return back
	}})
	for _, address := range []string{"203.0.113.7:443", "168.63.129.16:80"} {
		if _, err := client.DialContext(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), handover.ErrNoWay.Error()) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(asked) != 1 || asked[0] != "203.0.113.7" {
		t.Errorf("asked for the routes to %v", asked)
	}
}

// TestNodeHasNamedWays: what is the cluster's own, by each name of loopback, and what the user has named.
func TestNodeHasNamedWays(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, ways := range []handover.Ways{{Own: []string{address}}, {Named: []string{"LOCALHOST:" + port, address, "[::1]:" + port}}} {
		client, _ := pair(t, ways)
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
			conn, err := client.DialContext(t.Context(), "tcp", host+":"+port)
			if host == "[::1]" && len(ways.Named) > 0 {
				if err == nil || strings.Contains(err.Error(), handover.ErrNoWay.Error()) {
					t.Errorf("%s: %v", host, err) // nothing listens there, which a node may see that is let
				}
				continue
			}
			if err != nil {
				t.Errorf("%+v: %s: %v", ways, host, err)
				continue
			}
			_ = conn.Close()
		}
	}
	client, _ := pair(t, handover.Ways{Named: []string{"localhost"}}) // its usual ports alone
	if _, err := client.DialContext(t.Context(), "tcp", "localhost:443"); err == nil || strings.Contains(err.Error(), handover.ErrNoWay.Error()) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a usual port: %v", err)
	}
}

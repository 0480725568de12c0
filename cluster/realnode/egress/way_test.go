package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// machine are the addresses of the tests' machine: those of interfaces with networks.
func machine(addresses ...string) func() ([]net.Addr, error) {
	return func() ([]net.Addr, error) {
		var all []net.Addr
		for _, a := range addresses {
			ip, ipNet, err := net.ParseCIDR(a)
			if err != nil {
				return nil, err
			}
			all = append(all, &net.IPNet{IP: ip, Mask: ipNet.Mask})
		}
		return all, nil
	}
}

var policy = Policy{
	Cluster: []netip.Prefix{netip.MustParsePrefix("10.128.0.0/9"), netip.MustParsePrefix("10.0.0.0/16")},
	Machine: machine("127.0.0.1/8", "192.168.1.7/24", "203.0.113.9/32", "fd00::7/64"),
}

func TestPolicy(t *testing.T) {
	for address, allowed := range map[string]bool{
		"8.8.8.8": true, "192.168.1.8": true, "10.1.2.3": true, "172.16.0.1": true, "100.64.0.1": true, "203.0.113.10": true, "1.0.0.0": true, "223.255.255.255": true,
		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.255.255.254": false, "169.254.169.254": false, "169.254.0.1": false,
		"224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false, "192.0.0.192": false, "100.100.100.200": false, "168.63.129.16": false,
		"192.168.1.7": false, "203.0.113.9": false, // this machine's
		"10.128.0.5": false, "10.255.0.1": false, "10.0.3.4": false, // the cluster's
		"::1": false, "::": false, "fe80::1": false, "fe80::1%lo": false, "ff02::1": false, "fd00::7": false, "2001:db8::1": false,
		"::ffff:127.0.0.1": false, "::ffff:8.8.8.8": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false,
	} {
		if err := policy.Check(netip.MustParseAddr(address)); (err == nil) != allowed || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := policy.Check(netip.Addr{}); !errors.Is(err, ErrRefused) {
		t.Errorf("no address: %v", err)
	}
	unknown := Policy{Machine: func() ([]net.Addr, error) { return nil, io.ErrUnexpectedEOF }}
	if err := unknown.Check(netip.MustParseAddr("8.8.8.8")); !errors.Is(err, ErrRefused) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a machine whose addresses are not known: %v", err)
	}
}

// TestPolicyKnowsThisMachine: without a list of addresses the real ones are refused.
func TestPolicyKnowsThisMachine(t *testing.T) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip := netip.MustParsePrefix(a.String()).Addr()
		if err := (Policy{}).Check(ip); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", ip, err)
		}
	}
}

// TestLookup: what an answer holds besides addresses that pods are connected to is left out, and a failure is passed
// on.
func TestLookup(t *testing.T) {
	w := New(policy, slog.New(slog.DiscardHandler), nil)
	many := make([]netip.Addr, 2*mostAddresses)
	for i := range many {
		many[i] = netip.AddrFrom4([4]byte{198, 51, 100, byte(i)})
	}
	answers := map[string][]netip.Addr{
		"mixed.": {
			netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("::ffff:1.1.1.1"), netip.MustParseAddr("2001:db8::1"),
			netip.MustParseAddr("::ffff:169.254.169.254"), netip.MustParseAddr("192.168.1.7"), netip.MustParseAddr("10.128.0.1"),
		},
		"inward.": {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")},
		"many.":   many,
	}
	w.lookup = func(_ context.Context, network, name string) ([]netip.Addr, error) {
		if found, ok := answers[name]; ok && network == "ip" {
			return found, nil
		}
		return nil, &net.DNSError{Name: name, IsNotFound: true}
	}
	for name, want := range map[string]string{"mixed.": "[8.8.8.8 1.1.1.1]", "inward.": "[]", "many.": fmt.Sprint(many[:mostAddresses])} {
		if got, err := w.Lookup(t.Context(), name); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s has %v (%v), want %s", name, got, err, want)
		}
	}
	if _, err := w.Lookup(t.Context(), "absent."); err == nil {
		t.Error("a name that does not exist has addresses")
	}
}

// TestLookupListsMachineOnce: a name with thousands of addresses, as anyone with a domain can have, costs one look at
// this machine's interfaces.
func TestLookupListsMachineOnce(t *testing.T) {
	lists := 0
	p := Policy{Machine: func() ([]net.Addr, error) {
		lists++
		return machine("192.168.1.7/24")()
	}}
	w := New(p, slog.New(slog.DiscardHandler), nil)
	w.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return slices.Repeat([]netip.Addr{netip.MustParseAddr("192.168.1.7")}, 4000), nil
	}
	if got, err := w.Lookup(t.Context(), "many.example."); err != nil || len(got) > 0 || lists != 1 {
		t.Errorf("%v (%v), after %d lists", got, err, lists)
	}
}

// TestServeRefuses: connections that arrived for addresses of this machine are reset at once and reported, and no
// socket connects there, whatever was decided before.
func TestServeRefuses(t *testing.T) {
	target, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	var refused []netip.AddrPort
	w := New(Policy{}, slog.New(slog.DiscardHandler), func(_ net.Addr, to netip.AddrPort, why error) {
		if !errors.Is(why, ErrRefused) {
			t.Errorf("%s: %v", to, why)
		}
		refused = append(refused, to)
	})
	listener := resets(t, w)
	if want := netip.MustParseAddrPort(listener); !slices.Equal(refused, []netip.AddrPort{want}) {
		t.Errorf("refused are %v, want %s", refused, want)
	}
	if err := w.policy.CheckDial(target.Addr().String()); !errors.Is(err, ErrRefused) {
		t.Errorf("a socket may connect to %s: %v", target.Addr(), err)
	}
	if err := w.policy.CheckDial("8.8.8.8:53"); err != nil {
		t.Errorf("a socket may not connect to the outside: %v", err)
	}
}

// TestServeIsBounded: a connection beyond the limit is reset before anything is decided of it.
func TestServeIsBounded(t *testing.T) {
	w := New(Policy{}, slog.New(slog.DiscardHandler), func(_ net.Addr, to netip.AddrPort, _ error) { t.Errorf("%s was decided on", to) })
	if all := share(); all < fewest || all > mostConns {
		t.Errorf("%d connections at a time", all)
	}
	w.limit = connlimit.NewLimit(0, 0)
	resets(t, w)
}

// resets has w serve, wants it to reset a connection, and returns the address that the connection was for.
func resets(t *testing.T, w *Way) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Serve(t.Context(), listener)
	}()
	conn, err := net.Dial("tcp4", listener.Addr().String())
	if err == nil {
		defer conn.Close()
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection is not reset: %v", err)
	}
	_ = listener.Close()
	<-ended
	return listener.Addr().String()
}

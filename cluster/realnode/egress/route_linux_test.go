package egress

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// inNamespaces is set in the environment of a process that has namespaces of its own.
const inNamespaces = "SLIPWAY_TEST_IN_NAMESPACES"

// inOwnNetwork runs a test in a network of its own, where it may change routes.
func inOwnNetwork(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(inNamespaces) != "" {
		test(t)
		return
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), inNamespaces+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := again.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Skip("this system forbids namespaces:", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRoutesToThisMachine: an address that no interface has, and a route leads to this machine, is not connected to,
// not even for a moment. Neither is the broadcast address of a network.
func TestRoutesToThisMachine(t *testing.T) {
	inOwnNetwork(t, func(t *testing.T) {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			t.Fatal(err)
		}
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "one"}, PeerName: "other"}
		at := &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(198, 51, 100, 1), Mask: net.CIDRMask(24, 32)}}
		if err := errors.Join(netlink.LinkSetUp(lo), netlink.LinkAdd(pair), netlink.AddrAdd(pair, at), netlink.LinkSetUp(pair)); err != nil {
			t.Fatal(err)
		}
		for _, r := range []netlink.Route{
			{Dst: prefix("203.0.113.0/25"), Type: unix.RTN_LOCAL},
			{Dst: prefix("203.0.113.128/25"), Type: unix.RTN_LOCAL, Src: net.IPv4(127, 0, 0, 1)}, // as from another address
		} {
			r.LinkIndex, r.Table, r.Scope = lo.Attrs().Index, unix.RT_TABLE_LOCAL, unix.RT_SCOPE_HOST
			if err := netlink.RouteAdd(&r); err != nil {
				t.Fatal(err)
			}
		}
		target, err := net.Listen("tcp4", "0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(target.Addr().String())
		for _, ip := range []string{"203.0.113.7", "203.0.113.200", "198.51.100.255"} {
			connectsNot(t, ip+":"+port)
		}
		if somethingArrived(t, target) {
			t.Error("a connection arrived")
		}
		for _, ip := range []string{"198.51.100.2", "192.0.2.1"} { // another machine's, and one without a route
			if err := CheckRoute(netip.MustParseAddr(ip)); err != nil {
				t.Error(err)
			}
		}
	})
}

// connectsNot wants a connection to an address refused, and that reported.
func connectsNot(t *testing.T, to string) {
	t.Helper()
	refused := 0
	w := New(Policy{}, slog.New(slog.DiscardHandler), func(_ net.Addr, at netip.AddrPort, why error) {
		if refused++; at.String() != to || !errors.Is(why, ErrRefused) || !strings.Contains(why.Error(), at.Addr().String()+" is ") {
			t.Errorf("refused is %s: %v", at, why)
		}
	})
	conn, err := w.dial(t.Context(), arrived{to: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(to))})
	if err == nil {
		_ = conn.Close()
	}
	if !errors.Is(err, ErrRefused) || refused != 1 {
		t.Errorf("to %s: %v, reported %d times", to, err, refused)
	}
}

// somethingArrived says whether a connection waits for a listener. On one machine it does once it is made.
func somethingArrived(t *testing.T, l net.Listener) (yes bool) {
	t.Helper()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		conn, _, err := unix.Accept(int(fd)) // which does not wait
		if yes = err == nil; yes {
			_ = unix.Close(conn)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return yes
}

// arrived is a connection that a pod made to an address.
type arrived struct {
	net.Conn
	to net.Addr
}

func (a arrived) LocalAddr() net.Addr  { return a.to }
func (a arrived) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 128, 0, 9)} }

func prefix(text string) *net.IPNet {
	_, p, err := net.ParseCIDR(text)
	if err != nil {
		panic(err)
	}
	return p
}

package inside

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// inNamespaces is set in the environment of a process that has namespaces of its own.
const inNamespaces = "SLIPWAY_TEST_IN_NAMESPACES"

// TestListenOutside: connections to the outside that come from another network arrive at the socket with the address
// that they are for; those to addresses that are kept are as unreachable as without it. All are once the socket is
// closed. It can be had again.
func TestListenOutside(t *testing.T) {
	if os.Getenv(inNamespaces) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestListenOutside$", "-test.v")
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
		return
	}
	runtime.LockOSThread() // networks are this thread's, which is thrown away
	machine := network(t)
	err := loopbackUp()
	// Without a limit the kernel answers each of these few packets, not the first two.
	for name, value := range map[string]string{"ip_forward": "1", "icmp_ratelimit": "0"} {
		err = errors.Join(err, os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	joinNetworks(t, machine)
	l := listenIn(t, machine)
	for _, to := range []string{"192.0.2.1:80", "8.8.8.8:65535", "10.1.0.1:1"} {
		arrives(t, l, to, nil)
	}
	for _, to := range []string{"10.0.3.4:80", "203.0.113.5:80"} {
		arrives(t, l, to, syscall.ENETUNREACH)
	}
	_ = l.Close()
	arrives(t, nil, "192.0.2.1:80", syscall.ENETUNREACH)
	arrives(t, listenIn(t, machine), "192.0.2.1:80", nil)
}

// arrives connects, and wants l to be handed the connection, or the error.
func arrives(t *testing.T, l net.Listener, to string, is error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", to)
	if !errors.Is(err, is) {
		t.Errorf("to %s: %v, want %v", to, err, is)
	}
	if err != nil {
		return
	}
	defer conn.Close()
	arrived, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer arrived.Close()
	if arrived.LocalAddr().String() != to || arrived.RemoteAddr().String() != conn.LocalAddr().String() {
		t.Errorf("to %s from %s: it arrived for %s from %s", to, conn.LocalAddr(), arrived.LocalAddr(), arrived.RemoteAddr())
	}
	if _, err := arrived.Write([]byte("a")); err != nil {
		t.Error(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 1 {
		t.Errorf("nothing comes back from %s: %v", to, err)
	}
}

// network is this thread's.
func network(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// joinNetworks joins this thread's network to the machine's, by which it has all its routes.
func joinNetworks(t *testing.T, machine *os.File) {
	t.Helper()
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "node0", PeerNamespace: netlink.NsFd(int(machine.Fd()))}
	if err := netlink.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	setUp(t, "eth0", "10.9.0.2/24")
	within(t, machine, func() { setUp(t, "node0", "10.9.0.1/24") })
	if err := netlink.RouteAdd(&netlink.Route{Gw: net.IPv4(10, 9, 0, 1)}); err != nil {
		t.Fatal(err)
	}
}

func setUp(t *testing.T, name, address string) {
	t.Helper()
	link, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	at, err := netlink.ParseAddr(address)
	if err := errors.Join(err, netlink.AddrAdd(link, at), netlink.LinkSetUp(link)); err != nil {
		t.Fatal(err)
	}
}

func listenIn(t *testing.T, machine *os.File) (l net.Listener) {
	t.Helper()
	keep := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("10.9.0.0/24"), netip.MustParsePrefix("203.0.113.5/32")}
	within(t, machine, func() {
		fd, err := listenOutside(wire.WayOut{Address: "10.127.255.254:65535", Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "socket")
		defer f.Close()
		if l, err = net.FileListener(f); err != nil {
			t.Fatal(err)
		}
	})
	return l
}

// within calls f with this thread in a network, and takes it back to where it was.
func within(t *testing.T, there *os.File, f func()) {
	t.Helper()
	before := network(t)
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	f()
	if err := unix.Setns(int(before.Fd()), unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
}

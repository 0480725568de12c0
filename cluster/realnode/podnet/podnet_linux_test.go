package podnet

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

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// addresses gives out the addresses of a range without a network.
func addresses(pods string) *Network {
	n := &Network{pods: netip.MustParsePrefix(pods), used: map[netip.Addr]bool{}}
	n.gateway = n.pods.Addr().Next()
	n.last = n.gateway
	return n
}

// TestAddressesAreNotUsedAgainSoon: an address that was given back is the last to be given out again. Neither the
// network's own, nor the node's, nor the broadcast address is.
func TestAddressesAreNotUsedAgainSoon(t *testing.T) {
	n := addresses("10.128.0.0/29")
	take := func(want string) {
		t.Helper()
		got, err := n.allocate()
		if err != nil || got.String() != want {
			t.Errorf("%v (%v), want %s", got, err, want)
		}
	}
	take("10.128.0.2")
	n.release(netip.MustParseAddr("10.128.0.2"))
	for _, want := range []string{"10.128.0.3", "10.128.0.4", "10.128.0.5", "10.128.0.6", "10.128.0.2"} {
		take(want)
	}
	if got, err := n.allocate(); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v, %v", got, err)
	}
	n.release(netip.MustParseAddr("10.128.0.5"))
	take("10.128.0.5")
	if got, err := n.allocate(); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v, %v", got, err)
	}
}

// inNamespaces is set in the environment of a process that has namespaces of its own.
const inNamespaces = "SLIPWAY_TEST_IN_NAMESPACES"

// TestNetwork: a pod is reached from its node, from another pod and from the machine, has no way out, and is gone with
// its end. The machine is a network of its own here, as anywhere.
func TestNetwork(t *testing.T) {
	if os.Getenv(inNamespaces) == "" && os.Getuid() != 0 { // root needs no namespace for users
		again := exec.Command(os.Args[0], "-test.run=^TestNetwork$", "-test.v")
		again.Env = append(os.Environ(), inNamespaces+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET,
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
	machine, node := own(t), own(t)
	n, err := Setup(Config{
		Machine: machine, Address: netip.MustParseAddr("10.127.0.1"), Pods: netip.MustParsePrefix("10.128.1.0/24"),
		Services: netip.MustParsePrefix("10.0.0.0/16"), Host: netip.MustParseAddr("10.127.255.254"), Number: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	before := hardwareAddress(t, n.bridge.Name)
	pod, err := n.Add(map[string]string{"net.ipv4.ip_default_ttl": "42"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := n.Add(nil)
	if err != nil {
		t.Fatal(err)
	}
	if pod.Address.String() != "10.128.1.2" || other.Address.String() != "10.128.1.3" {
		t.Errorf("the pods are %s and %s", pod.Address, other.Address)
	}
	if _, err := n.Add(map[string]string{"net.ipv4.no_such_setting": "1"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a setting that there is not: %v", err)
	}
	in(t, pod.Namespace, func() {
		for name, want := range map[string]string{"ip_default_ttl": "42\n", "ip_unprivileged_port_start": "0\n"} {
			if got, err := os.ReadFile("/proc/sys/net/ipv4/" + name); string(got) != want {
				t.Errorf("%s is %q, %v", name, got, err)
			}
		}
		go serve(t, listen(t, "0.0.0.0:80"))
	})
	in(t, machine, func() {
		go serve(t, listen(t, "10.127.255.254:80"))
		go serve(t, listen(t, "10.0.0.7:80")) // of the Services
	})
	for _, tt := range []struct {
		from *os.File
		name string
		to   string
		is   error
	}{
		{node, "the node", pod.Address.String(), nil}, {other.Namespace, "another pod", pod.Address.String(), nil}, {machine, "the machine", pod.Address.String(), nil},
		{pod.Namespace, "the pod", "10.127.255.254", nil}, {pod.Namespace, "the pod", "10.0.0.7", nil}, {node, "the node", "10.0.0.7", nil},
		{pod.Namespace, "the pod", "192.0.2.1", syscall.ENETUNREACH}, {node, "the node", "192.0.2.1", syscall.ENETUNREACH},
	} {
		in(t, tt.from, func() {
			if err := dial(t, tt.to+":80"); !errors.Is(err, tt.is) {
				t.Errorf("from %s to %s: %v, want %v", tt.name, tt.to, err, tt.is)
			}
		})
	}
	n.Remove(pod)
	if now := hardwareAddress(t, n.bridge.Name); now != before {
		t.Errorf("the pods' gateway was %s, and is %s with other pods: those that know it lose their packets", before, now)
	}
	in(t, node, func() {
		for _, p := range []struct {
			*Pod
			there bool
		}{{pod, false}, {other, true}} {
			if _, err := netlink.LinkByName(p.link); (err == nil) != p.there {
				t.Errorf("the interface of %s: %v", p.Address, err)
			}
		}
	})
	if err := unix.Fstat(int(pod.Namespace.Fd()), &unix.Stat_t{}); err == nil {
		t.Error("its namespace is still held")
	}
	n.Remove(&Pod{Address: other.Address, link: "none"}) // one whose network is gone already
}

// hardwareAddress is that of an interface of this thread's network.
func hardwareAddress(t *testing.T, name string) string {
	t.Helper()
	link, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return link.Attrs().HardwareAddr.String()
}

// own gives this thread a network of its own.
func own(t *testing.T) *os.File {
	t.Helper()
	if err := unix.Unshare(unix.CLONE_NEWNET); errors.Is(err, syscall.EPERM) {
		t.Skip("this system forbids namespaces:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return open(t, "/proc/thread-self/ns/net")
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// in calls f with this thread in a network, and takes it back to where it was.
func in(t *testing.T, network *os.File, f func()) {
	t.Helper()
	before := open(t, "/proc/thread-self/ns/net")
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	f()
	if err := unix.Setns(int(before.Fd()), unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func serve(t *testing.T, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("here"))
		_ = conn.Close()
	}
}

func dial(t *testing.T, address string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Read(make([]byte, 1))
	return err
}

package containerinit

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// inNamespaces is set in the environment of a process that has namespaces of its own.
const inNamespaces = "SLIPWAY_TEST_IN_NAMESPACES"

// inOwnNamespaces runs a test as root of its own namespaces, in a process of its own.
func inOwnNamespaces(t *testing.T, test func(t *testing.T)) {
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

// TestListenOutside: connections to the outside that come from another network arrive at the socket with the address
// that they are for; those to addresses that are kept are as unreachable as without it. All are once the socket is
// closed. It can be had again.
func TestListenOutside(t *testing.T) { inOwnNamespaces(t, testListenOutside) }

func testListenOutside(t *testing.T) {
	runtime.LockOSThread() // networks are this thread's, which is thrown away
	machine := network(t)
	err := loopbackUp()
	// Without a limit the kernel answers each of these few packets, not the first two.
	// The mark of sources is what a host with a VPN may have handed on.
	for name, value := range map[string]string{"ip_forward": "1", "icmp_ratelimit": "0", "conf/all/src_valid_mark": "1", "conf/default/src_valid_mark": "1"} {
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

// TestMissingParts: what the kernel lacks is named. A kernel that lacks it answers as this one does to what no kernel
// has, and a socket as a filter of system calls has it.
func TestMissingParts(t *testing.T) { inOwnNamespaces(t, testMissingParts) }

func testMissingParts(t *testing.T) {
	runtime.LockOSThread() // the filter is this thread's
	messages := filterMessages(netip.MustParseAddrPort("10.127.255.254:1"), nil)
	without := func(old, replacement string) error {
		changed := slices.Clone(messages)
		for i, m := range changed {
			changed[i].body = bytes.ReplaceAll(m.body, []byte(old), []byte(replacement))
		}
		return filter(changed)
	}
	const noSubsystem = unix.NFNL_SUBSYS_OSF // has no batches, whether it is there or not
	other := bytes.ReplaceAll(messages[0].body, []byte{unix.NFNL_SUBSYS_NFTABLES}, []byte{noSubsystem})
	found := map[string]error{
		"nft_tproxy":                without("tproxy\x00", "absent\x00"),
		"nf_tables":                 filter(append([]message{{kind: messages[0].kind, body: other}}, messages[1:]...)),
		"CONFIG_IP_MULTIPLE_TABLES": withoutRules(sendNetlink(unix.NETLINK_ROUTE, message{kind: unix.RTM_MAX + 1, flags: unix.NLM_F_ACK, body: make([]byte, 12)})),
	}
	if m, ok := errors.AsType[*missing](without("filter\x00", "absent\x00")); !ok || m.part != "nf_tables" {
		t.Errorf("a type of chains is missing: %v", m)
	}
	if err := filter(messages); err != nil {
		t.Skip("this kernel has no nftables with tproxy:", err)
	}
	forbidNetfilter(t, unix.EPROTONOSUPPORT)
	found["nfnetlink"] = filter(messages)
	for part, err := range found {
		if m, ok := errors.AsType[*missing](err); !ok || m.part != part {
			t.Errorf("without %s: %v", part, err)
		}
	}
	if m, ok := errors.AsType[*missing](withoutFilter(unix.EPERM, messages)); ok {
		t.Errorf("what is forbidden is missing: %v", m)
	}
}

// forbidNetfilter has this thread's sockets of netfilter fail.
func forbidNetfilter(t *testing.T, with unix.Errno) {
	t.Helper()
	const family, protocol = 16, 32 // where the arguments of a call are
	load := func(at uint32) wire.Instruction {
		return wire.Instruction{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	unless := func(k uint32, skip uint8) wire.Instruction {
		return wire.Instruction{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, F: skip}
	}
	result := func(k uint32) wire.Instruction { return wire.Instruction{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	if err := install([]wire.Instruction{
		load(0), unless(unix.SYS_SOCKET, 5), load(family), unless(unix.AF_NETLINK, 3), load(protocol), unless(unix.NETLINK_NETFILTER, 1),
		result(unix.SECCOMP_RET_ERRNO | uint32(with)), result(unix.SECCOMP_RET_ALLOW),
	}); err != nil {
		t.Fatal(err)
	}
}

// arrives connects, and wants l to be handed the connection, or the error.
func arrives(t *testing.T, l net.Listener, to string, is error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
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

package test

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// withEgress lets pods reach the network.
func withEgress(c *protocol.Config) { c.Egress = new(true) }

// TestRealEgress: with --egress a pod reaches another machine by address and by name, and what is not to be reached is
// not, whatever leads there. Hostile pods get no further than others. The proxy of this machine has no part in it.
func TestRealEgress(t *testing.T) {
	o := newOutside(t)
	t.Run("off", func(t *testing.T) { testNoEgress(t, startReal(t, nil), o) }) // comes first: nothing has arrived yet
	t.Run("root", func(t *testing.T) {
		var proxied atomic.Int32
		c := startRealWith(t, nil, []func(*exec.Cmd){throughProxy(t, &proxied), askOnly(t, nameServer(t, o))}, withEgress)
		c.running("client")
		testReaches(t, c, o)
		testNames(t, c, o)
		testNodesNames(t, c)
		testRefuses(t, c, o)
		t.Run("packets", func(t *testing.T) { testAttacks(t, c, o, o.throughProcess) })
		t.Run("ends", func(t *testing.T) { testEnds(t, c, o) })
		t.Run("rate", func(t *testing.T) { testRate(t, c, o) })
		if n := proxied.Load(); n > 0 {
			t.Errorf("%d connections to the proxy", n)
		}
		if !c.kinds().Egress {
			t.Error("the status says nothing of it")
		}
	})
	t.Run("user", func(t *testing.T) {
		c := startReal(t, beOrdinary, withEgress)
		c.running("client")
		testReaches(t, c, o)
		testRefuses(t, c, o)
	})
}

func testReaches(t *testing.T, c *realCluster, o outside) {
	for range 3 {
		if got := c.exec("client", "pod", "get", "http://"+o.ip.String()+"/"); got != "outside" {
			t.Errorf("%s answers %q", o.ip, got)
		}
	}
}

// testNames: names of the outside are there beside those of the cluster, without addresses that are refused.
func testNames(t *testing.T, c *realCluster, o outside) {
	if got := c.exec("client", "pod", "get", "http://outside.example/"); got != "outside" {
		t.Errorf("outside.example answers %q", got)
	}
	for name, want := range map[string]string{"outside.example": o.ip.String() + "\n", "kubernetes.default.svc.cluster.local": "10.0.0.1\n"} {
		if got := c.exec("client", "pod", "resolve", name); got != want {
			t.Errorf("%s leads to %q", name, got)
		}
	}
	for _, name := range []string{"absent.example", "inward.example"} {
		if got, stderr, err := c.try("client", nil, false, "pod", "get", "http://"+name+"/"); err == nil || !strings.Contains(stderr, "no such host") {
			t.Errorf("%s answers %q, and %q", name, got, stderr)
		}
	}
}

// testNodesNames: names of the outside are also there for pods that resolve names as their node does.
func testNodesNames(t *testing.T, c *realCluster) {
	for name, change := range map[string]func(*corev1.PodSpec){
		"as-node": func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSDefault },
		"on-node": func(s *corev1.PodSpec) { s.HostNetwork = true },
	} {
		p := c.pod(name, "graceful")
		change(&p.Spec)
		c.create(p)
		c.await(name, ready)
		if got := c.exec(name, "pod", "get", "http://outside.example/"); got != "outside" {
			t.Errorf("outside.example answers %q to %s", got, name)
		}
		c.remove(name)
	}
}

// testRefuses: this machine's own addresses, its services that listen there included, and special ones are not reached.
func testRefuses(t *testing.T, c *realCluster, o outside) {
	var taken atomic.Int32
	own := newListener(t, o.own.String()+":0", &taken)
	everywhere := newListener(t, "0.0.0.0:0", &taken)
	_, port, err := net.SplitHostPort(everywhere)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{
		own, o.own.String() + ":" + port, "169.254.169.254:80", network.Host.String() + ":" + port, network.Host.String() + ":1", o.ip.String() + ":81",
		"127.0.0.1:" + port, "0.0.0.0:" + port, "[::ffff:127.0.0.1]:" + port, "[::ffff:" + o.own.String() + "]:" + port, "169.254.1.1:" + port, "10.200.0.1:80",
	} {
		begin := time.Now()
		if got, _, err := c.try("client", nil, false, "pod", "get", "http://"+at+"/"); err == nil {
			t.Errorf("%s answers %q", at, got)
		}
		c.atOnce(at+" fails", time.Since(begin), 10*time.Second)
	}
	if n := taken.Load(); n > 0 {
		t.Errorf("%d connections arrived at this machine", n)
	}
	c.awaitEvent("client", "EgressRefused", "is reset: pods may not reach this address: "+o.own.String()+" is this machine's")
}

// newListener counts connections to an address, and returns the address with its port.
func newListener(t *testing.T, address string, taken *atomic.Int32) string {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			taken.Add(1)
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// nameServer answers questions for names on loopback, where a resolver asks, and returns its address.
func nameServer(t *testing.T, o outside) netip.Addr {
	t.Helper()
	ip := netip.AddrFrom4([4]byte{127, 18, byte(os.Getpid() >> 8), byte(os.Getpid())})
	conn, err := net.ListenPacket("udp4", ip.String()+":53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	known := map[string][]netip.Addr{
		"outside.example.": {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.169.254"), o.ip, o.own, netip.MustParseAddr("10.128.0.9")},
		"inward.example.":  {netip.MustParseAddr("127.0.0.1"), o.own},
	}
	go func() {
		buffer := make([]byte, 4<<10)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply := answerFor(known, buffer[:n]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return ip
}

func answerFor(known map[string][]netip.Addr, question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	addresses, ok := known[q.Name.String()]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, RecursionDesired: true, RecursionAvailable: true}
	m.Additionals = nil
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, ip := range addresses {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: ip.As4()},
			})
		}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// askOnly has a program's resolver ask one server, in a view of files of its own.
func askOnly(t *testing.T, server netip.Addr) func(*exec.Cmd) {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the program's files are changed by a shell:", err)
	}
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, []byte("nameserver "+server.String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", `mount --bind "$0" /etc/resolv.conf && exec "$@"`, file, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = shell
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
}

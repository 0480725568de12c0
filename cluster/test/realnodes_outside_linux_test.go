package test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/connlimit"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// outside is a machine beside this one. It answers HTTP on port 80, and on port 7 with what is sent to it. On
// port 9 it sends nothing and ends nothing. Everything that arrives is noted.
type outside struct {
	ip  netip.Addr
	own netip.Addr // this machine's address on the way there

	seen *seen
	open *atomic.Int32 // counts the connections of port 7 that are there now
}

// sockets are the other machine's.
type sockets struct {
	http, echo, silent net.Listener
	packets            *os.File
}

// newOutside has a network namespace stand for another machine. Only root can have that.
func newOutside(t *testing.T) outside {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("another machine is a network namespace that is joined to this one's, which only root may do")
	}
	// A network of four addresses, of the range for tests of machines.
	first := netip.AddrFrom4([4]byte{198, 18, byte(os.Getpid() >> 6), byte(os.Getpid() << 2)})
	o := outside{own: first.Next(), ip: first.Next().Next(), seen: newSeen(), open: new(atomic.Int32)}
	t.Cleanup(func() { // the namespace itself goes some time after the last of it is closed
		if link, err := netlink.LinkByName(linkName()); err == nil {
			_ = netlink.LinkDel(link)
		}
	})
	there := make(chan sockets)
	go func() {
		runtime.LockOSThread() // the thread is thrown away
		defer close(there)
		if err := o.setUp(there); err != nil {
			t.Error(err)
		}
	}()
	s, ok := <-there
	if !ok {
		t.FailNow()
	}
	server := &http.Server{Handler: outsideHandler(), ReadHeaderTimeout: testlimit.Hang}
	go func() { _ = server.Serve(s.http) }()
	go o.echo(s.echo)
	go keepSilent(s.silent)
	go o.seen.read(s.packets, o.ip)
	t.Cleanup(func() { _, _, _ = server.Close(), s.echo.Close(), s.packets.Close() })
	t.Cleanup(func() { _ = s.silent.Close() })
	return o
}

// outsideHandler answers as the other machine does: a word, so many bytes, or half of them.
func outsideHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "outside") })
	mux.HandleFunc("/bytes/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.PathValue("n"), 10, 64)
		block := make([]byte, 1<<20)
		for ; n > 0; n -= int64(len(block)) {
			if _, err := w.Write(block[:min(n, int64(len(block)))]); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\nhalf") // its length is that of the connection
		buffer := make([]byte, 1)
		_, _ = conn.Read(buffer) // until the client has that half
		connlimit.Reset(conn)
	})
	return mux
}

// echo answers each connection with what it sends.
func (o outside) echo(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		o.open.Add(1)
		go func() {
			defer o.open.Add(-1)
			defer conn.Close()
			_, _ = io.Copy(conn, conn)
		}()
	}
}

// keepSilent takes connections and leaves them as they are, until the listener is closed.
func keepSilent(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
	}
}

// linkName is that of this machine's interface on the way to the other one.
func linkName() string { return fmt.Sprintf("slip%d", os.Getpid()) }

// setUp sets the other machine up in this thread's new namespace, and sends its sockets to there.
func (o outside) setUp(there chan<- sockets) error {
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer here.Close()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	name := linkName()
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: name, PeerNamespace: netlink.NsFd(int(here.Fd()))}
	if err := errors.Join(netlink.LinkAdd(pair), addAddress("lo", netip.MustParseAddr("127.0.0.1")), addAddress("eth0", o.ip)); err != nil {
		return err
	}
	s, err := o.listen()
	if err != nil {
		return err
	}
	if err := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := addAddress(name, o.own); err != nil {
		return err
	}
	there <- s
	return nil
}

// listen opens the other machine's sockets in this thread's namespace.
func (o outside) listen() (s sockets, err error) {
	if s.http, err = net.Listen("tcp4", o.ip.String()+":80"); err != nil {
		return s, err
	}
	if s.echo, err = net.Listen("tcp4", o.ip.String()+":7"); err != nil {
		return s, err
	}
	if s.silent, err = net.Listen("tcp4", o.ip.String()+":9"); err != nil {
		return s, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(bigEndian(unix.ETH_P_IP)))
	if err != nil {
		return s, err
	}
	s.packets = os.NewFile(uintptr(fd), "packets")
	return s, nil
}

// bigEndian is a number of two bytes as the network has it.
func bigEndian(n uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n))
}

// addAddress gives an interface of this thread's namespace an address, and brings it up.
func addAddress(name string, ip netip.Addr) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	const bits = 30
	address := &netlink.Addr{IPNet: &net.IPNet{IP: ip.AsSlice(), Mask: net.CIDRMask(bits, 32)}}
	if err := netlink.AddrAdd(link, address); err != nil && !errors.Is(err, syscall.EEXIST) {
		return err
	}
	return netlink.LinkSetUp(link)
}

// packet is what is known of one that arrived.
type packet struct {
	protocol byte
	from     netip.AddrPort // without a port where the protocol has none
}

// seen are the packets of IPv4 that arrived, one of each kind.
type seen struct {
	mu  sync.Mutex
	all map[packet]bool
	own map[packet]bool // those of connections that a test has made to know that what was sent before is there
}

func newSeen() *seen { return &seen{all: map[packet]bool{}, own: map[packet]bool{}} }

// read notes packets until the socket is closed. Those that the machine itself sends are not noted.
func (s *seen) read(packets io.Reader, ip netip.Addr) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := packets.Read(buffer)
		if err != nil {
			return
		}
		if p, ok := parsePacket(buffer[:n]); ok && p.from.Addr() != ip {
			s.mu.Lock()
			s.all[p] = true
			s.mu.Unlock()
		}
	}
}

func parsePacket(b []byte) (p packet, ok bool) {
	const header = 20
	if len(b) < header {
		return p, false
	}
	p.protocol = b[9]
	ip, port := netip.AddrFrom4([4]byte(b[12:16])), uint16(0)
	if size := int(b[0]&0xf) * 4; p.protocol != unix.IPPROTO_ICMP && len(b) >= size+2 {
		port = binary.BigEndian.Uint16(b[size:])
	}
	p.from = netip.AddrPortFrom(ip, port)
	return p, true
}

// others are the packets that arrived by now and are not of a kind. A connection of this machine's own is the last
// of them.
func (o outside) others(t *testing.T, usual func(packet) bool) (left []packet) {
	t.Helper()
	conn, err := net.Dial("tcp4", o.ip.String()+":7")
	if err != nil {
		t.Fatal(err)
	}
	last := packet{unix.IPPROTO_TCP, netip.MustParseAddrPort(conn.LocalAddr().String())}
	_ = conn.Close()
	eventually(t, "the packets are noted", func(context.Context) (bool, error) {
		o.seen.mu.Lock()
		defer o.seen.mu.Unlock()
		return o.seen.all[last], nil
	})
	o.seen.mu.Lock()
	defer o.seen.mu.Unlock()
	o.seen.own[last] = true
	for p := range o.seen.all {
		if !o.seen.own[p] && !usual(p) {
			left = append(left, p)
		}
	}
	return left
}

// throughProcess says whether a packet is of a connection that this machine made.
func (o outside) throughProcess(p packet) bool {
	return p.protocol == unix.IPPROTO_TCP && p.from.Addr() == o.own
}

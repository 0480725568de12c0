package connlimit_test

import (
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// short is a listener of a process that has no files left for its first few connections.
type short struct {
	net.Listener
	failures int
}

func (s *short) Accept() (net.Conn, error) {
	if s.failures--; s.failures >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return s.Listener.Accept()
}

func TestConnectionsOutliveShortage(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var told atomic.Int32
	taken, ended := make(chan net.Conn), make(chan struct{})
	go func() {
		defer close(ended)
		connlimit.Connections(&short{listener, 3}, func(c net.Conn) { taken <- c }, func(error) { told.Add(1) })
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = (<-taken).Close(), conn.Close()
	if told.Load() != 1 {
		t.Errorf("one shortage was told %d times", told.Load())
	}
	_ = listener.Close()
	<-ended
}

// shortPackets is the same for packets.
type shortPackets struct {
	net.PacketConn
	failures int
}

func (s *shortPackets) ReadFrom(b []byte) (int, net.Addr, error) {
	if s.failures--; s.failures >= 0 {
		return 0, nil, &net.OpError{Op: "read", Net: "udp", Err: syscall.ENOBUFS}
	}
	return s.PacketConn.ReadFrom(b)
}

func TestPacketsOutliveShortage(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		connlimit.Packets(&shortPackets{conn, 3}, make([]byte, 4), func(p []byte, _ net.Addr) { got <- string(p) }, nil)
	}()
	client, err := net.Dial("udp", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte("longer")); err != nil {
		t.Fatal(err)
	}
	if p := <-got; p != "long" {
		t.Errorf("the packet is %q", p)
	}
	_ = conn.Close()
	<-ended
}

func TestLimit(t *testing.T) {
	a, b := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 1}
	l := connlimit.NewLimit(3, 2)
	enter := func(who net.Addr, want bool) (leave func()) {
		t.Helper()
		leave, ok := l.Enter(who)
		if ok != want {
			t.Errorf("%s enters: %t", who, ok)
		}
		return leave
	}
	enter(a, true)
	leave := enter(a, true)
	enter(a, false)
	enter(b, true)
	enter(b, false) // three in all
	leave()
	leave()
	enter(b, true)
	enter(a, false)
	if l.Refused() != 3 {
		t.Errorf("%d were refused", l.Refused())
	}
}

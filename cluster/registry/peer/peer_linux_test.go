package peer

import (
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// stranger is a user who has nothing to do with the tests'.
const stranger = 54321

// accepted makes a connection, by connect, and returns the other end of it.
func accepted(t *testing.T, connect func(t *testing.T, port int) (closing func())) net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Cleanup(connect(t, listener.Addr().(*net.TCPAddr).Port))
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func dialed(d net.Dialer) func(*testing.T, int) func() {
	return func(t *testing.T, port int) func() {
		conn, err := d.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		return func() { _ = conn.Close() }
	}
}

// mapped connects from a socket of IPv6, as some programs do to whatever address.
func mapped(t *testing.T, port int) func() {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip("there is no IPv6 here:", err)
	}
	to := &unix.SockaddrInet6{Port: port, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}}
	if err := unix.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	return func() { _ = unix.Close(fd) }
}

// asStranger connects with a socket of another user.
func asStranger(t *testing.T, port int) func() {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	closing := make(chan func())
	go func() {
		runtime.LockOSThread() // which ends with this goroutine
		_, _ = unix.Setfsuid(stranger), unix.Setfsgid(stranger)
		closing <- dialed(net.Dialer{})(t, port)
	}()
	return <-closing
}

// closed leaves nothing of its end but what the kernel still has to do.
func closed(t *testing.T, port int) func() {
	dialed(net.Dialer{})(t, port)()
	return func() {}
}

// halfClosed has said all that it has to say.
func halfClosed(t *testing.T, port int) func() {
	conn, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: own, Port: port})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	return func() { _ = conn.Close() }
}

// toAny connects to 0.0.0.0, which the kernel takes for loopback.
func toAny(t *testing.T, port int) func() {
	conn, err := net.Dial("tcp4", net.JoinHostPort("0.0.0.0", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = conn.Close() }
}

func TestUser(t *testing.T) {
	self := os.Geteuid()
	for name, c := range map[string]struct {
		connect func(*testing.T, int) func()
		uid     int
		told    bool
	}{
		"this user":         {dialed(net.Dialer{}), self, true},
		"over IPv6":         {mapped, self, true},
		"another user":      {asStranger, stranger, true},
		"on behalf":         {dialed(net.Dialer{Control: OnBehalf}), 0, false},
		"to any":            {toAny, self, true},
		"another address":   {dialed(net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 7)}}), 0, false},
		"one that is gone":  {closed, 0, false},
		"one that is going": {halfClosed, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			uid, told := User(accepted(t, c.connect))
			if told != c.told || uid != c.uid {
				t.Errorf("user %d, told %t; want %d, %t", uid, told, c.uid, c.told)
			}
		})
	}
}

// TestOnBehalfToAny: on behalf of others, 0.0.0.0 is not a way to what listens at 127.0.0.1 for this user.
func TestOnBehalfToAny(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	conn, err := (&net.Dialer{Control: OnBehalf}).DialContext(t.Context(), "tcp4", net.JoinHostPort("0.0.0.0", port))
	if err == nil {
		defer conn.Close()
		if uid, told := User(conn); told {
			t.Errorf("it is told to be user %d", uid)
		}
		t.Errorf("connected to %s from %s", conn.RemoteAddr(), conn.LocalAddr())
	}
}

// TestUserOfOthers: what is no connection over loopback has no user.
func TestUserOfOthers(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pair[1])
	file := os.NewFile(uintptr(pair[0]), "socket")
	conn, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Close(), file.Close() }()
	if uid, told := User(conn); told {
		t.Errorf("it is told to be user %d", uid)
	}
}

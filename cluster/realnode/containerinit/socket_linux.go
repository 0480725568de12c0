package containerinit

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// backlog is the number of connections that may wait for accept.
const backlog = 1024

// openSocket makes a nonblocking socket, and starts to connect or to listen.
func openSocket(s wire.Socket) (int, error) {
	at, err := netip.ParseAddrPort(s.Address)
	if err != nil || !at.Addr().Is4() {
		return -1, fmt.Errorf("not an IPv4 address and port: %q", s.Address)
	}
	kind := unix.SOCK_STREAM
	if s.Network == "udp4" {
		kind = unix.SOCK_DGRAM
	}
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err := bindOrConnect(s, fd, &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}, kind); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// bindOrConnect connects or binds the socket. IP_FREEBIND lets it bind to an address that does not exist yet.
func bindOrConnect(s wire.Socket, fd int, at unix.Sockaddr, kind int) error {
	if !s.Listen {
		if err := unix.Connect(fd, at); err != nil && err != unix.EINPROGRESS {
			return err
		}
		return nil
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_FREEBIND, 1); err != nil {
		return err
	}
	if s.Transparent {
		if err := unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1); err != nil {
			return err
		}
	}
	if kind == unix.SOCK_STREAM {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
			return err
		}
	}
	if err := unix.Bind(fd, at); err != nil {
		return err
	}
	if kind == unix.SOCK_STREAM {
		return unix.Listen(fd, backlog)
	}
	return nil
}

package egress

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// CheckRoute refuses an address that the kernel delivers to this machine, or to more machines than one. A route can do
// that for an address which no interface has: some clouds route the addresses of load balancers so. An address without
// a route is not refused, since a socket cannot connect to it.
func CheckRoute(ip netip.Addr) error {
	kind, err := routeOf(ip)
	switch {
	case err != nil:
		return fmt.Errorf("%w: cannot read the route to %s: %w", ErrRefused, ip, err)
	case kind == unix.RTN_LOCAL:
		return fmt.Errorf("%w: %s is this machine's", ErrRefused, ip)
	case kind != unix.RTN_UNICAST && kind != unix.RTN_UNSPEC:
		return fmt.Errorf("%w: %s is not the address of one machine", ErrRefused, ip)
	}
	return nil
}

// routeSize is the size of the fixed part of a route in netlink, and routeKind is where that has the route's type.
const routeSize, routeKind = unix.SizeofRtMsg, 7

// routeOf is the type of the route that the kernel takes to an address, RTN_UNSPEC where it has none.
func routeOf(ip netip.Addr) (kind byte, err error) {
	conn, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(conn)
	if err := unix.Sendto(conn, routeQuestion(ip), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, os.NewSyscallError("sendto", err)
	}
	// The kernel has answered by the time that it took the question.
	answer := make([]byte, os.Getpagesize())
	n, _, err := unix.Recvfrom(conn, answer, unix.MSG_DONTWAIT)
	if err != nil {
		return 0, os.NewSyscallError("recvfrom", err)
	}
	return routeIn(answer[:n])
}

func routeQuestion(ip netip.Addr) []byte {
	to := ip.As4()
	const size = unix.SizeofNlMsghdr + routeSize + unix.SizeofRtAttr + len(to)
	q := binary.NativeEndian.AppendUint32(nil, uint32(size))
	q = binary.NativeEndian.AppendUint16(q, unix.RTM_GETROUTE)
	q = binary.NativeEndian.AppendUint16(q, unix.NLM_F_REQUEST)
	q = append(q, make([]byte, 8)...)                                           // a number, and the sender
	q = append(q, unix.AF_INET, uint8(8*len(to)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // struct rtmsg
	q = binary.NativeEndian.AppendUint16(q, unix.SizeofRtAttr+uint16(len(to)))
	q = binary.NativeEndian.AppendUint16(q, unix.RTA_DST)
	return append(q, to[:]...)
}

// routeIn reads an answer of the kernel.
func routeIn(answer []byte) (kind byte, err error) {
	if len(answer) < unix.SizeofNlMsghdr+4 {
		return 0, os.NewSyscallError("netlink", unix.EBADMSG)
	}
	body := answer[unix.SizeofNlMsghdr:]
	switch binary.NativeEndian.Uint16(answer[4:]) {
	case unix.NLMSG_ERROR:
		return unix.RTN_UNSPEC, nil
	case unix.RTM_NEWROUTE:
		if len(body) >= routeSize {
			return body[routeKind], nil
		}
	}
	return 0, os.NewSyscallError("netlink", unix.EBADMSG)
}

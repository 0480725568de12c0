package egress

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// CheckRoute refuses an address that the kernel delivers to this machine or to several machines. A route can do so for
// an address of no interface: some clouds route load balancers' addresses to the machine. It accepts an address without
// a route, which a socket cannot connect to.
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

// routeSize is the size of struct rtmsg, and routeKind is the offset of rtm_type in it.
const routeSize, routeKind = unix.SizeofRtMsg, 7

// routeOf returns the type of the kernel's route to an address, or RTN_UNSPEC if there is none.
func routeOf(ip netip.Addr) (kind byte, err error) {
	conn, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(conn)
	if err := unix.Sendto(conn, routeQuestion(ip), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, os.NewSyscallError("sendto", err)
	}
	// The kernel answers a request for a route within sendto.
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
	q = append(q, make([]byte, 8)...)                                           // sequence number and sender
	q = append(q, unix.AF_INET, uint8(8*len(to)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // struct rtmsg
	q = binary.NativeEndian.AppendUint16(q, unix.SizeofRtAttr+uint16(len(to)))
	q = binary.NativeEndian.AppendUint16(q, unix.RTA_DST)
	return append(q, to[:]...)
}

// routeIn returns the route's type in the kernel's answer.
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

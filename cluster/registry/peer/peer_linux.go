package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// User returns the user at the other end of a connection, by the id that it has for this process.
func User(c net.Conn) (uid int, ok bool) {
	local, remote, ok := ends(c)
	if !ok {
		return 0, false
	}
	first, err := find(remote, local)
	if err != nil {
		return 0, false
	}
	// A socket that its process has closed has no user any more, which looks like root. The second answer says that at
	// the time of the first the socket was open: it is the same one, and still is.
	second, err := find(remote, local)
	if err != nil || first != second || !first.open() || nobody(first.uid) {
		return 0, false
	}
	return int(first.uid), true
}

// nobody says whether that is the id which stands for all that this process's user namespace does not know.
func nobody(uid uint32) bool {
	const usual = "65534"
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		text = []byte(usual)
	}
	unknown, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	return err != nil || uint64(uid) == unknown
}

// socket is what the kernel says of one end of a connection.
type socket struct {
	state      uint8
	uid, inode uint32
}

// established is the state of a connection that neither end has begun to close.
const established = 1

func (s socket) open() bool { return s.state == established && s.inode != 0 }

// The kernel's structures inet_diag_req_v2 and inet_diag_msg, and where in them is what matters here.
const (
	requestSize = 56
	answerSize  = 72

	atStates, atSourcePort, atTargetPort, atSource, atTarget, atCookie = 4, 8, 10, 12, 28, 48

	atState, atUID, atINode = 1, 64, 68
)

var errNoAnswer = errors.New("the kernel has no answer about the socket")

// find asks the kernel for the socket with these addresses.
func find(local, remote *net.TCPAddr) (socket, error) {
	conn, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return socket{}, fmt.Errorf("ask the kernel for a socket: %w", err)
	}
	defer unix.Close(conn)
	if err := unix.Sendto(conn, question(local, remote), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return socket{}, fmt.Errorf("ask the kernel for a socket: %w", err)
	}
	buffer := make([]byte, 4<<10)
	n, _, err := unix.Recvfrom(conn, buffer, unix.MSG_DONTWAIT) // the kernel has answered by now
	if err != nil {
		return socket{}, fmt.Errorf("ask the kernel for a socket: %w", err)
	}
	messages, err := syscall.ParseNetlinkMessage(buffer[:n])
	if err != nil || len(messages) == 0 || messages[0].Header.Type != unix.SOCK_DIAG_BY_FAMILY || len(messages[0].Data) < answerSize {
		return socket{}, errNoAnswer
	}
	d := messages[0].Data
	return socket{state: d[atState], uid: binary.NativeEndian.Uint32(d[atUID:]), inode: binary.NativeEndian.Uint32(d[atINode:])}, nil
}

// question is the request for one socket, by its addresses.
func question(local, remote *net.TCPAddr) []byte {
	message := make([]byte, unix.NLMSG_HDRLEN+requestSize)
	binary.NativeEndian.PutUint32(message, uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST)
	r := message[unix.NLMSG_HDRLEN:]
	r[0], r[1] = unix.AF_INET, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(r[atStates:], ^uint32(0))
	binary.BigEndian.PutUint16(r[atSourcePort:], uint16(local.Port))
	binary.BigEndian.PutUint16(r[atTargetPort:], uint16(remote.Port))
	copy(r[atSource:], local.IP.To4())
	copy(r[atTarget:], remote.IP.To4())
	binary.NativeEndian.PutUint64(r[atCookie:], ^uint64(0)) // whichever it has
	return message
}

// OnBehalf is the Control of a [net.Dialer] whose connections over loopback are made on behalf of others. The kernel
// takes 0.0.0.0 for loopback.
func OnBehalf(_, address string, c syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Is4() || !to.Addr().IsLoopback() && !to.Addr().IsUnspecified() {
		return nil
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) // the port is chosen with the connection, if the kernel can
		failed = unix.Bind(int(fd), &unix.SockaddrInet4{Addr: behalf})
	})
	return errors.Join(err, failed)
}

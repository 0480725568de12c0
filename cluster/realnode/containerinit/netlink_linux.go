package containerinit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// message is a netlink message without its header.
type message struct {
	kind, flags uint16
	body        []byte // the family's header and the attributes
}

// attribute encodes an attribute, padded.
func attribute(kind uint16, data ...byte) []byte {
	const header, align = unix.SizeofNlAttr, unix.NLA_ALIGNTO
	b := binary.NativeEndian.AppendUint16(nil, uint16(header+len(data)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), data...)
	return append(b, make([]byte, (align-len(b)%align)%align)...)
}

// nested encodes an attribute that contains attributes.
func nested(kind uint16, children ...[]byte) []byte {
	return attribute(kind|unix.NLA_F_NESTED, slices.Concat(children...)...)
}

// text encodes a string attribute.
func text(kind uint16, s string) []byte { return attribute(kind, append([]byte(s), 0)...) }

// number encodes an attribute in native byte order, which rtnetlink uses.
func number(kind uint16, n uint32) []byte {
	return attribute(kind, binary.NativeEndian.AppendUint32(nil, n)...)
}

// uint32BE encodes an attribute in network byte order, which netfilter uses.
func uint32BE(kind uint16, n uint32) []byte {
	return attribute(kind, binary.BigEndian.AppendUint32(nil, n)...)
}

// sendNetlink sends messages in one packet, and waits for the kernel's replies to those with NLM_F_ACK. The first error
// among them is a [refusal].
func sendNetlink(family int, messages ...message) error {
	conn, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer unix.Close(conn)
	var all []byte
	asked := 0
	for i, m := range messages {
		all = binary.NativeEndian.AppendUint32(all, uint32(unix.SizeofNlMsghdr+len(m.body)))
		all = binary.NativeEndian.AppendUint16(all, m.kind)
		all = binary.NativeEndian.AppendUint16(all, m.flags|unix.NLM_F_REQUEST)
		all = binary.NativeEndian.AppendUint32(all, uint32(i+1))
		all = append(binary.NativeEndian.AppendUint32(all, 0), m.body...)
		if m.flags&unix.NLM_F_ACK != 0 {
			asked++
		}
	}
	if err := unix.Sendto(conn, all, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("ask the kernel: %w", err)
	}
	return answers(conn, asked)
}

// numberAt is the offset of the sequence number in a message.
const numberAt = 8

// refusal is the kernel's error for one of several messages.
type refusal struct {
	message int // its index
	errno   unix.Errno
}

func (r *refusal) Error() string { return r.errno.Error() }

func (r *refusal) Unwrap() error { return r.errno }

// answers reads that many replies, or up to the first error. The kernel replies within sendto, so it never waits.
func answers(conn, asked int) error {
	buffer := make([]byte, 16<<10)
	for asked > 0 {
		n, _, err := unix.Recvfrom(conn, buffer, unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("hear the kernel's answer: %w", err)
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofNlMsghdr; asked-- {
			size := int(binary.NativeEndian.Uint32(rest))
			if size < unix.SizeofNlMsghdr+4 || size > len(rest) || binary.NativeEndian.Uint16(rest[4:]) != unix.NLMSG_ERROR {
				return errors.New("hear the kernel's answer: no answer")
			}
			if code := int32(binary.NativeEndian.Uint32(rest[unix.SizeofNlMsghdr:])); code != 0 {
				return &refusal{int(binary.NativeEndian.Uint32(rest[numberAt:])) - 1, unix.Errno(-code)}
			}
			rest = rest[min(len(rest), (size+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1)):]
		}
	}
	return nil
}

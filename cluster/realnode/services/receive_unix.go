//go:build unix

package services

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// receive waits for a packet. It takes a buffer only when one is readable, since most flows are idle. The packet is
// valid until done is called.
func (f *flows) receive(conn net.Conn) (packet []byte, done func(), err error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil, nil, fmt.Errorf("%T is not a socket", conn)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var buffer *[maxPacket]byte
	var n int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		buffer = f.buffers.Get().(*[maxPacket]byte)
		for n, failed = unix.Read(int(fd), buffer[:]); errors.Is(failed, unix.EINTR); {
			n, failed = unix.Read(int(fd), buffer[:])
		}
		if errors.Is(failed, unix.EAGAIN) {
			f.buffers.Put(buffer)
			buffer = nil
			return false
		}
		return true
	})
	switch {
	case err != nil:
		return nil, nil, err
	case failed != nil:
		f.buffers.Put(buffer)
		return nil, nil, failed
	}
	return buffer[:n], func() { f.buffers.Put(buffer) }, nil
}

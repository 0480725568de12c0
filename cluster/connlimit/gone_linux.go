package connlimit

import (
	"net"

	"golang.org/x/sys/unix"
)

// awaitGone waits until a connection has broken off, or its read deadline has passed. Nothing else may read from it.
func awaitGone(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		state := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(state, 0)
		return err == nil && n > 0 && state[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
}

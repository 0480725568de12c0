package protocol

import (
	"net"
	"syscall"
)

// The system's names, from sys/un.h.
const (
	solLocal     = 0
	localPeerPID = 2
)

// Peer returns the id of the process that serves socket, as the kernel knows it:
// other than an id in a file, it cannot be that of a process long gone. It does not
// take part of that process.
func Peer(socket string) (pid int, ok bool) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return 0, false
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, false
	}
	if raw.Control(func(fd uintptr) { pid, err = syscall.GetsockoptInt(int(fd), solLocal, localPeerPID) }) != nil || err != nil {
		return 0, false
	}
	return pid, true
}

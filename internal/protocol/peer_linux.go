package protocol

import (
	"net"
	"syscall"
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
	var cred *syscall.Ucred
	if raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}) != nil || err != nil {
		return 0, false
	}
	return int(cred.Pid), true
}

// Package peer says which user of this machine is at the other end of a TCP connection over its loopback.
//
//	uid, ok := peer.User(conn)
//
// Linux knows it of each socket. Other systems do not report it, and Linux does not for a connection that is being
// closed, nor of one that is made on behalf of others: a process that connects for another process says so by
// [OnBehalf].
//
//	dialer := net.Dialer{Control: peer.OnBehalf}
//
// What is reported was so at one moment at least while the other end was open: a process may hand an open connection to
// another user's, as it may hand on whatever it knows.
package peer

import "net"

// own is the address that connections come from whose user counts.
var own = net.IPv4(127, 0, 0, 1)

// behalf is the address of loopback that connections on behalf of others come from.
var behalf = [4]byte{127, 0, 0, 2}

// ends are the addresses of a connection over loopback, if it is one whose user counts.
func ends(c net.Conn) (local, remote *net.TCPAddr, ok bool) {
	local, isLocal := c.LocalAddr().(*net.TCPAddr)
	remote, isRemote := c.RemoteAddr().(*net.TCPAddr)
	return local, remote, isLocal && isRemote && remote.IP.Equal(own) && local.IP.Equal(own)
}

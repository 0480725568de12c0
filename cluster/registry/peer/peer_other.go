//go:build !linux

package peer

import (
	"net"
	"syscall"
)

// User is not told by this system.
func User(net.Conn) (uid int, ok bool) { return 0, false }

// OnBehalf has nothing to say where no user is told.
func OnBehalf(string, string, syscall.RawConn) error { return nil }

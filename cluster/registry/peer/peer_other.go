//go:build !linux

package peer

import (
	"net"
	"syscall"
)

// User is unknown on this system.
func User(net.Conn) (uid int, ok bool) { return 0, false }

// OnBehalf has nothing to say where no user is reported.
func OnBehalf(string, string, syscall.RawConn) error { return nil }

//go:build unix

package machine

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// Talk makes the connection between this process and a node: theirs is for [NodeOptions].
func Talk() (ours net.Conn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a connection to a node: %w", err)
	}
	end := os.NewFile(uintptr(pair[0]), "node")
	defer end.Close()
	theirs = os.NewFile(uintptr(pair[1]), "cluster")
	if ours, err = net.FileConn(end); err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("make a connection to a node: %w", err)
	}
	return ours, theirs, nil
}

package registry

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reserve keeps everybody from listening at the same port of [::1], which container engines and browsers ask first when
// they mean localhost: whoever answered there would be sent images, and accounts. It is taken and not listened at, so
// that they are refused there and ask 127.0.0.1.
func reserve(port int) (release func() error, err error) {
	none := func() error { return nil }
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		return none, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reserve [::1]:%d: %w", port, err)
	}
	// Without SO_REUSEADDR, which would let others that have it take the port too.
	err = unix.Bind(fd, &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}})
	if err == nil {
		return os.NewFile(uintptr(fd), "[::1]").Close, nil
	}
	_ = unix.Close(fd) // nothing was written
	if errors.Is(err, unix.EADDRNOTAVAIL) {
		return none, nil
	}
	return nil, fmt.Errorf("reserve [::1]:%d: %w", port, err)
}

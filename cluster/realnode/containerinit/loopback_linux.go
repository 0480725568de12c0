package containerinit

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// loopbackUp brings the loopback interface up. Before the network has an address, the kernel treats every address as
// broadcast. UDP sockets bound by then would reply from another address than the one that was asked.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring the loopback interface up: %w", err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bring the loopback interface up: %w", err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("bring the loopback interface up: %w", err)
	}
	return nil
}

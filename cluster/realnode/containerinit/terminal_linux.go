package containerinit

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// ownTerminal opens a terminal of the container, sends the master end to the node, and makes the terminal this
// process's controlling one.
func ownTerminal() error {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return fmt.Errorf("name the terminal: %w", err)
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock the terminal: %w", err)
	}
	if err := unix.Sendmsg(wire.FileTerminal, []byte{0}, unix.UnixRights(master), nil, 0); err != nil {
		return fmt.Errorf("hand over the terminal: %w", err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("open the terminal: %w", err)
	}
	for fd := range 3 {
		if err := unix.Dup3(int(slave.Fd()), fd, 0); err != nil {
			return fmt.Errorf("use the terminal: %w", err)
		}
	}
	_ = unix.Close(wire.FileTerminal)
	_ = unix.Close(master)
	_ = slave.Close()
	if err := unix.IoctlSetInt(0, unix.TIOCSCTTY, 0); err != nil {
		return fmt.Errorf("control the terminal: %w", err)
	}
	return nil
}

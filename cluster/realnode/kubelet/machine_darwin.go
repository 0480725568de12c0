package kubelet

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// memory returns the machine's memory in bytes, or 0 if unknown.
func memory() uint64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return bytes
}

// usage is not implemented on macOS.
func usage() (wire.Usage, error) { return wire.Usage{}, errors.ErrUnsupported }

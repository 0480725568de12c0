package kubelet

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// memory is how much the machine has; 0 if it does not say.
func memory() uint64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return bytes
}

// usage is not measured.
func usage() (wire.Usage, error) { return wire.Usage{}, errors.ErrUnsupported }

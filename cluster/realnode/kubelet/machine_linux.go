package kubelet

import (
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/process"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// memory returns the machine's memory in bytes, or 0 if unknown.
func memory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return info.Totalram * uint64(info.Unit)
}

// usage measures all processes that the node sees.
func usage() (wire.Usage, error) { return process.Measure(process.All) }

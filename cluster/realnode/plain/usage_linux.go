package plain

import (
	"context"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	processes "github.com/slipway-dev/slipway/cluster/realnode/process"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

var _ cri.Measured = (*process)(nil)

// Usage measures the container: the keeper and its descendants.
func (p *process) Usage(context.Context) (wire.Usage, error) {
	of, err := processes.Of(p.cmd.Process.Pid)
	if err != nil {
		return wire.Usage{}, err
	}
	return processes.Measure(of)
}

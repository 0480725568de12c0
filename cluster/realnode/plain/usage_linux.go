package plain

import (
	"context"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/inside"
	processes "github.com/slipway-dev/slipway/cluster/realnode/process"
)

var _ cri.Measured = (*process)(nil)

// Usage measures the container: its keeper with all that descends from it.
func (p *process) Usage(context.Context) (inside.Usage, error) {
	of, err := processes.Of(p.cmd.Process.Pid)
	if err != nil {
		return inside.Usage{}, err
	}
	return processes.Measure(of)
}

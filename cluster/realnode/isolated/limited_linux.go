package isolated

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/process"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

var _ interface {
	cri.Limited
	cri.Measured
} = (*isolated)(nil)

// limit makes the container's limits, for its first process and all later ones.
func (c *isolated) limit() error {
	if c.options.Groups == nil {
		return nil
	}
	groups, err := c.options.Groups.Make(context.Background(), c.container.ID, cri.LimitsOf(c.container.Config.GetLinux().GetResources()))
	if err != nil {
		return fmt.Errorf("limit the container: %w", err)
	}
	c.groups, c.spec.Cgroups = groups, len(groups)
	return nil
}

// unlimit removes the limits of the ended container, and records whether it ran out of memory.
func (c *isolated) unlimit() {
	closeFiles(c.groups...)
	if c.options.Groups == nil {
		return
	}
	last, err := c.options.Groups.Remove(context.Background(), c.container.ID)
	c.outOfMemory = err == nil && last.OutOfMemory > 0
}

// OutOfMemory reports whether the kernel killed a process of the container because of the memory limit.
func (c *isolated) OutOfMemory() bool { return c.outOfMemory }

// Limit changes the container's limits.
func (c *isolated) Limit(ctx context.Context, l wire.Limits) error {
	if c.options.Groups == nil {
		return nil
	}
	return c.options.Groups.Update(ctx, c.container.ID, l)
}

// Usage measures the container: by its cgroup or, without one, by /proc.
func (c *isolated) Usage(ctx context.Context) (wire.Usage, error) {
	if c.options.Groups != nil {
		return c.options.Groups.Measure(ctx, c.container.ID)
	}
	of, err := process.Of(c.process.Pid)
	if err != nil {
		return wire.Usage{}, err
	}
	return process.Measure(of)
}

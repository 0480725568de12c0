package cri

import (
	"context"
	"fmt"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/process"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Limited is a [Process] whose container can have limits.
type Limited interface {
	Limit(context.Context, wire.Limits) error
	// OutOfMemory reports whether the ended container exceeded its memory limit.
	OutOfMemory() bool
}

// Measured is a [Process] that can measure its whole container.
type Measured interface {
	Usage(context.Context) (wire.Usage, error)
}

// maxPIDs bounds the processes and threads of a container, so that a fork bomb does not exhaust the machine.
const maxPIDs = 4096

// LimitsOf converts the kubelet's limits.
func LimitsOf(l *runtimeapi.LinuxContainerResources) wire.Limits {
	return wire.Limits{
		Memory: l.GetMemoryLimitInBytes(), CPUQuota: l.GetCpuQuota(), CPUPeriod: l.GetCpuPeriod(), CPUShares: l.GetCpuShares(), PIDs: maxPIDs,
	}
}

func (p *run) outOfMemory() bool {
	l, ok := p.Process.(Limited)
	return ok && l.OutOfMemory()
}

// UpdateContainerResources changes the limits of a running container.
func (r *Runtime) UpdateContainerResources(ctx context.Context, id string, to *runtimeapi.ContainerResources) error {
	c, run, err := r.running(id)
	if err != nil {
		return err
	}
	if l, ok := run.Process.(Limited); ok {
		if err := l.Limit(ctx, LimitsOf(to.GetLinux())); err != nil {
			return fmt.Errorf("limit the container: %w", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.resources = to.GetLinux()
	return nil
}

// measure returns false if the container does not run or cannot be measured.
func (r *Runtime) measure(ctx context.Context, c *container) (process.Reading, bool) {
	_, run, err := r.running(c.id)
	if err != nil {
		return process.Reading{}, false
	}
	m, ok := run.Process.(Measured)
	if !ok {
		return process.Reading{}, false
	}
	u, err := m.Usage(ctx)
	if err != nil {
		return process.Reading{}, false
	}
	return c.meter.Note(u, time.Now()), true
}

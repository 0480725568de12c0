package cri

import (
	"context"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/process"
)

// ContainerStats measures a container. One that does not run has no figures.
func (r *Runtime) ContainerStats(ctx context.Context, id string) (*runtimeapi.ContainerStats, error) {
	c, err := r.container(id)
	if err != nil {
		return nil, err
	}
	return r.stats(ctx, c), nil
}

// ListContainerStats measures the running containers that match the filter.
func (r *Runtime) ListContainerStats(ctx context.Context, f *runtimeapi.ContainerStatsFilter) ([]*runtimeapi.ContainerStats, error) {
	var list []*runtimeapi.ContainerStats
	for _, c := range r.runningContainers() {
		if passes(f.GetId(), c.id) && passes(f.GetPodSandboxId(), c.sandbox.id) && hasLabels(c.config.GetLabels(), f.GetLabelSelector()) {
			list = append(list, r.stats(ctx, c))
		}
	}
	return list, nil
}

func (r *Runtime) runningContainers() []*container {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*container
	for _, c := range r.containers {
		if c.state == runtimeapi.ContainerState_CONTAINER_RUNNING {
			all = append(all, c)
		}
	}
	return all
}

// stats returns a container's attributes and, if it runs, its usage.
func (r *Runtime) stats(ctx context.Context, c *container) *runtimeapi.ContainerStats {
	s, _, _ := r.measured(ctx, c)
	return s
}

// measured returns false if the container does not run or cannot be measured.
func (r *Runtime) measured(ctx context.Context, c *container) (s *runtimeapi.ContainerStats, m process.Reading, ok bool) {
	s = &runtimeapi.ContainerStats{Attributes: &runtimeapi.ContainerAttributes{
		Id: c.id, Metadata: c.config.GetMetadata(), Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(),
	}}
	if m, ok = r.measure(ctx, c); ok {
		s.Cpu, s.Memory = cpuOf(m), memoryOf(m)
	}
	return s, m, ok
}

func cpuOf(m process.Reading) *runtimeapi.CpuUsage {
	return &runtimeapi.CpuUsage{Timestamp: m.At.UnixNano(), UsageCoreNanoSeconds: value(m.CPU), UsageNanoCores: value(m.Rate)}
}

func memoryOf(m process.Reading) *runtimeapi.MemoryUsage {
	u := &runtimeapi.MemoryUsage{
		Timestamp: m.At.UnixNano(), UsageBytes: value(m.Memory), WorkingSetBytes: value(m.WorkingSet), RssBytes: value(m.RSS),
		PageFaults: value(m.Faults), MajorPageFaults: value(m.MajorFaults),
	}
	if m.MemoryLimit > m.WorkingSet {
		u.AvailableBytes = value(m.MemoryLimit - m.WorkingSet)
	}
	return u
}

func value(n uint64) *runtimeapi.UInt64Value { return &runtimeapi.UInt64Value{Value: n} }

// PodSandboxStats returns the sum of the usage of a pod's containers.
func (r *Runtime) PodSandboxStats(ctx context.Context, id string) (*runtimeapi.PodSandboxStats, error) {
	s, err := r.sandbox(id)
	if err != nil {
		return nil, err
	}
	return r.podStats(ctx, s), nil
}

// ListPodSandboxStats measures the pods that match the filter and are not stopped.
func (r *Runtime) ListPodSandboxStats(ctx context.Context, f *runtimeapi.PodSandboxStatsFilter) ([]*runtimeapi.PodSandboxStats, error) {
	r.mu.Lock()
	var all []*sandbox
	for _, s := range r.sandboxes {
		if passes(f.GetId(), s.id) && hasLabels(s.config.GetLabels(), f.GetLabelSelector()) && !s.stopped {
			all = append(all, s)
		}
	}
	r.mu.Unlock()
	list := make([]*runtimeapi.PodSandboxStats, 0, len(all))
	for _, s := range all {
		list = append(list, r.podStats(ctx, s))
	}
	return list, nil
}

// podStats sums up the usage of a pod's containers. A pod has no other processes.
func (r *Runtime) podStats(ctx context.Context, s *sandbox) *runtimeapi.PodSandboxStats {
	sum := process.Reading{At: time.Now()}
	linux := &runtimeapi.LinuxPodSandboxStats{}
	for _, c := range r.containersOf(s) {
		if stats, m, ok := r.measured(ctx, c); ok {
			sum.Add(m)
			linux.Containers = append(linux.Containers, stats)
		}
	}
	linux.Cpu, linux.Memory, linux.Process = cpuOf(sum), memoryOf(sum), &runtimeapi.ProcessUsage{Timestamp: sum.At.UnixNano(), ProcessCount: value(sum.Processes)}
	return &runtimeapi.PodSandboxStats{
		Attributes: &runtimeapi.PodSandboxAttributes{Id: s.id, Metadata: s.config.GetMetadata(), Labels: s.config.GetLabels(), Annotations: s.config.GetAnnotations()},
		Linux:      linux,
	}
}

// ListMetricDescriptors returns nothing: there are no metrics besides the stats.
func (r *Runtime) ListMetricDescriptors(context.Context) ([]*runtimeapi.MetricDescriptor, error) {
	return nil, nil
}

// ListPodSandboxMetrics returns nothing, for the same reason.
func (r *Runtime) ListPodSandboxMetrics(context.Context) ([]*runtimeapi.PodSandboxMetrics, error) {
	return nil, nil
}

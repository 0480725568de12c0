package cgroup

import (
	"errors"
	"io/fs"
	"math"
	"strconv"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// limit sets all limits that have a controller.
func (g group) limit(l wire.Limits) error {
	set := map[string]func(dir string, l wire.Limits) error{memory: limitMemory, cpu: limitCPU, pids: limitPIDs}
	if g.unified {
		set[memory], set[cpu] = limitMemoryUnified, limitCPUUnified
	}
	for controller, limit := range set {
		if dir := g.dirs[controller]; dir != "" {
			if err := limit(dir, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// limitMemory limits memory and, if the kernel counts it, memory with swap. The latter must never be below the former,
// so the order of the writes depends on the old limits.
func limitMemory(dir string, l wire.Limits) error {
	const file, withSwap = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
	value := "-1"
	if l.Memory > 0 {
		value = strconv.FormatInt(l.Memory, 10)
	}
	if write(dir, file, value) == nil {
		return optional(write(dir, withSwap, value))
	}
	return errors.Join(optional(write(dir, withSwap, value)), write(dir, file, value))
}

// limitMemoryUnified also makes the kernel kill all processes of the container together, as the stock kubelet does with
// version 2.
func limitMemoryUnified(dir string, l wire.Limits) error {
	value, swap := "max", "max"
	if l.Memory > 0 {
		value, swap = strconv.FormatInt(l.Memory, 10), "0"
	}
	return errors.Join(write(dir, "memory.max", value), optional(write(dir, "memory.swap.max", swap)), optional(write(dir, "memory.oom.group", "1")))
}

// optional ignores the lack of a file, for files that some kernels lack.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// limitCPU sets shares, and the quota if the kernel has quotas: see [Tree.Unlimited].
func limitCPU(dir string, l wire.Limits) error {
	quota := int64(-1)
	if l.CPUQuota > 0 {
		quota = l.CPUQuota
	}
	return errors.Join(
		write(dir, "cpu.shares", strconv.FormatInt(shares(l), 10)),
		optional(write(dir, "cpu.cfs_period_us", strconv.FormatInt(period(l), 10))),
		optional(write(dir, "cpu.cfs_quota_us", strconv.FormatInt(quota, 10))),
	)
}

func limitCPUUnified(dir string, l wire.Limits) error {
	quota := "max"
	if l.CPUQuota > 0 {
		quota = strconv.FormatInt(l.CPUQuota, 10)
	}
	return errors.Join(
		write(dir, "cpu.weight", strconv.FormatInt(weight(shares(l)), 10)),
		optional(write(dir, "cpu.max", quota+" "+strconv.FormatInt(period(l), 10))),
	)
}

// shares returns at least 2, the kernel's minimum.
func shares(l wire.Limits) int64 { return max(l.CPUShares, 2) }

// period returns the period in microseconds, by default the kernel's.
func period(l wire.Limits) int64 {
	if l.CPUPeriod > 0 {
		return l.CPUPeriod
	}
	return 100_000
}

// weight converts shares to a weight of version 2 by the formula of container runtimes: 2 becomes 1, 1024 becomes 100
// and 262144 becomes 10000.
func weight(shares int64) int64 {
	l := math.Log2(float64(shares))
	exponent := (l*l+125*l)/612 - 7.0/34
	return min(max(int64(math.Ceil(math.Pow(10, exponent))), 1), 10_000)
}

func limitPIDs(dir string, l wire.Limits) error {
	value := "max"
	if l.PIDs > 0 {
		value = strconv.FormatInt(l.PIDs, 10)
	}
	return write(dir, "pids.max", value)
}

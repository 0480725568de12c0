package cgroup

import (
	"errors"
	"io/fs"
	"math"
	"strconv"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// limit sets all limits for which there are controllers.
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

// limitMemory limits memory and, where the kernel counts that, memory with what is swapped, which must not be below the
// other at any time.
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

// limitMemoryUnified has all processes of a container end if one has to, as the stock kubelet does with this version.
func limitMemoryUnified(dir string, l wire.Limits) error {
	value, swap := "max", "max"
	if l.Memory > 0 {
		value, swap = strconv.FormatInt(l.Memory, 10), "0"
	}
	return errors.Join(write(dir, "memory.max", value), optional(write(dir, "memory.swap.max", swap)), optional(write(dir, "memory.oom.group", "1")))
}

// optional is for files that not every kernel has.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// limitCPU shares processors out, and holds the container to its quota where the kernel has quotas: see
// [Tree.Unlimited].
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

// shares are at least two, which the kernel makes of less.
func shares(l wire.Limits) int64 { return max(l.CPUShares, 2) }

// period is the kernel's unless it is given.
func period(l wire.Limits) int64 {
	if l.CPUPeriod > 0 {
		return l.CPUPeriod
	}
	return 100_000
}

// weight is what the second version has in place of shares. As container runtimes do it, the ends and the defaults of
// both ranges meet: 2 is 1, 1024 is 100, 262144 is 10000.
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

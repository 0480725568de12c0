package cgroup

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// usage measures the group. Figures without a controller are zero.
func (g group) usage() wire.Usage {
	if g.unified {
		return usageUnified(g.dirs[memory])
	}
	bytes, stat := number(g.dirs[memory], "memory.usage_in_bytes"), table(g.dirs[memory], "memory.stat")
	return wire.Usage{
		CPU:    number(g.dirs[cpuTime], "cpuacct.usage"),
		Memory: bytes, WorkingSet: subtractOrZero(bytes, stat["total_inactive_file"]), RSS: stat["total_rss"],
		Faults: stat["total_pgfault"], MajorFaults: stat["total_pgmajfault"],
		Processes: number(g.dirs[pids], "pids.current"), MemoryLimit: zeroIfUnlimited(number(g.dirs[memory], "memory.limit_in_bytes")),
		OutOfMemory: table(g.dirs[memory], "memory.oom_control")["oom_kill"],
		Throttled:   table(g.dirs[cpu], "cpu.stat")["nr_throttled"],
	}
}

func usageUnified(dir string) wire.Usage {
	const perMicrosecond = 1000
	bytes, stat, time := number(dir, "memory.current"), table(dir, "memory.stat"), table(dir, "cpu.stat")
	return wire.Usage{
		CPU:    time["usage_usec"] * perMicrosecond,
		Memory: bytes, WorkingSet: subtractOrZero(bytes, stat["inactive_file"]), RSS: stat["anon"],
		Faults: stat["pgfault"], MajorFaults: stat["pgmajfault"],
		Processes: number(dir, "pids.current"), MemoryLimit: zeroIfUnlimited(number(dir, "memory.max")),
		OutOfMemory: table(dir, "memory.events")["oom_kill"],
		Throttled:   time["nr_throttled"],
	}
}

// subtractOrZero returns a-b, or 0 if b is greater: the kernel changed the values between two reads.
func subtractOrZero(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

// zeroIfUnlimited returns 0 for no limit, which version 1 reports as the greatest number of whole pages.
func zeroIfUnlimited(bytes uint64) uint64 {
	if bytes >= math.MaxInt64/2 {
		return 0
	}
	return bytes
}

// number reads a file with a number. It returns 0 for any other content, such as "max".
func number(dir, file string) uint64 {
	if dir == "" {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n
}

// table reads a file with a name and a number on each line.
func table(dir, file string) map[string]uint64 {
	values := map[string]uint64{}
	if dir == "" {
		return values
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return values
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			values[name] = n
		}
	}
	return values
}

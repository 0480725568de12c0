package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// memory collects the resident memory of a contender's processes at the end of each run.
type memory struct {
	resident []int64 // bytes
}

// sample is a run's sample; it also notes what the processes that this one started use at this moment.
func (m *memory) sample(wall time.Duration) (sidebyside.Sample, error) {
	c, err := children()
	if err != nil {
		return sidebyside.Sample{}, err
	}
	m.resident = append(m.resident, c.resident)
	return sidebyside.Sample{Wall: wall, CPU: c.cpu}, nil
}

// median is zero where the operating system does not tell.
func (m *memory) median() int64 {
	sorted := slices.Sorted(slices.Values(m.resident))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// usage sums up what processes have used so far.
type usage struct {
	resident int64 // bytes
	cpu      time.Duration
}

// ticksPerSecond is USER_HZ, which Linux fixes for /proc.
const ticksPerSecond = 100

// children reads from /proc what this process's children use; elsewhere nothing is known.
func children() (sum usage, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return sum, err
	}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		u, parent, err := parseStat(string(data))
		if err != nil {
			return sum, fmt.Errorf("%s: %w", path, err)
		}
		if parent == os.Getpid() {
			sum.resident, sum.cpu = sum.resident+u.resident, sum.cpu+u.cpu
		}
	}
	return sum, nil
}

// parseStat reads a line of /proc/PID/stat (proc(5)). The fields count from behind the command's name, which may hold spaces.
func parseStat(line string) (u usage, parent int, err error) {
	const (
		fieldParent   = 1
		fieldUser     = 11
		fieldSystem   = 12
		fieldResident = 21
	)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= fieldResident {
		return u, 0, fmt.Errorf("only %d fields", len(fields))
	}
	number := func(field int) int64 {
		n, e := strconv.ParseInt(fields[field], 10, 64)
		err = errors.Join(err, e)
		return n
	}
	u.cpu = time.Duration(number(fieldUser)+number(fieldSystem)) * (time.Second / ticksPerSecond)
	u.resident = number(fieldResident) * int64(os.Getpagesize())
	return u, int(number(fieldParent)), err
}

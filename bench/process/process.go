// Package process measures what the processes of a contender use: memory, processor time. It reads /proc and so knows
// something on Linux only; elsewhere a [Group] is empty and its [Usage] zero, which reports leave out.
//
//	before, err := process.Children()
//	… start the contender …
//	after, err := process.Children()
//	group := after.Without(before)
//	usage, err := group.Usage()
package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group is a set of processes, by their ids.
type Group []int

// Usage sums up what the processes of a group use, or have used so far.
type Usage struct {
	Resident     int64 // bytes in memory
	Proportional int64 // the same, but of pages that several processes share each has its part
	CPU          time.Duration
}

// Children are the processes that this one started and that have not ended.
func Children() (Group, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var group Group
	for _, path := range paths {
		s, err := readStat(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errEnded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s.parent == os.Getpid() {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				return nil, err
			}
			group = append(group, pid)
		}
	}
	return group, nil
}

// Without is the group without the processes of another.
func (g Group) Without(other Group) Group {
	return slices.DeleteFunc(slices.Clone(g), func(pid int) bool { return slices.Contains(other, pid) })
}

// Usage is what the group's processes use now. One that has ended is an error: its part would be missing.
func (g Group) Usage() (sum Usage, err error) {
	for _, pid := range g {
		s, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return sum, err
		}
		m, err := readMemory(pid)
		if err != nil {
			return sum, err
		}
		sum.Resident += m.resident
		sum.Proportional += m.proportional
		sum.CPU += s.cpu
	}
	return sum, nil
}

// stat is what interests in /proc/PID/stat.
type stat struct {
	parent int
	cpu    time.Duration
}

// errEnded says that a process ended while its file was read.
var errEnded = errors.New("the process has ended")

func readStat(path string) (stat, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			err = errors.Join(errEnded, err) // reading, not opening, failed
		}
		return stat{}, err
	}
	s, err := parseStat(string(data))
	if err != nil {
		return stat{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ticksPerSecond is USER_HZ, which Linux fixes for /proc.
const ticksPerSecond = 100

// parseStat reads a line of /proc/PID/stat (proc(5)). The fields count from behind the command's name, which may hold
// spaces.
func parseStat(line string) (s stat, err error) {
	const (
		fieldParent = 1
		fieldUser   = 11
		fieldSystem = 12
	)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= fieldSystem {
		return s, fmt.Errorf("only %d fields", len(fields))
	}
	number := func(field int) int64 {
		n, e := strconv.ParseInt(fields[field], 10, 64)
		err = errors.Join(err, e)
		return n
	}
	s.cpu = time.Duration(number(fieldUser)+number(fieldSystem)) * (time.Second / ticksPerSecond)
	s.parent = int(number(fieldParent))
	return s, err
}

// memory is what a process has of it, in bytes.
type memory struct{ resident, proportional int64 }

// readMemory counts all pages. What /proc/PID/stat says is less exact (proc(5)): of a small process it may be nothing.
func readMemory(pid int) (memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return memory{}, err
	}
	m, err := parseRollup(string(data))
	if err != nil {
		return memory{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return m, nil
}

// parseRollup reads /proc/PID/smaps_rollup.
func parseRollup(text string) (m memory, err error) {
	for name, size := range map[string]*int64{"Rss:": &m.resident, "Pss:": &m.proportional} {
		_, rest, found := strings.Cut(text, "\n"+name)
		if !found {
			return m, fmt.Errorf("no %s", name)
		}
		if _, err := fmt.Sscanf(rest, "%d kB", size); err != nil {
			return m, fmt.Errorf("%s %w", name, err)
		}
		*size <<= 10
	}
	return m, nil
}

// Package process tells what the processes of a contender use: memory, processor time. It reads /proc and so knows
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
	Resident     int64 // bytes in memory, as top and ps tell it
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
		proportional, err := readProportional(pid)
		if err != nil {
			return sum, err
		}
		sum.Resident += s.resident
		sum.Proportional += proportional
		sum.CPU += s.cpu
	}
	return sum, nil
}

// stat is what interests in /proc/PID/stat.
type stat struct {
	parent   int
	resident int64 // bytes
	cpu      time.Duration
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

// parseStat reads a line of /proc/PID/stat (proc(5)). The fields count from behind the command's name, which may hold spaces.
func parseStat(line string) (s stat, err error) {
	const (
		fieldParent   = 1
		fieldUser     = 11
		fieldSystem   = 12
		fieldResident = 21
	)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= fieldResident {
		return s, fmt.Errorf("only %d fields", len(fields))
	}
	number := func(field int) int64 {
		n, e := strconv.ParseInt(fields[field], 10, 64)
		err = errors.Join(err, e)
		return n
	}
	s.cpu = time.Duration(number(fieldUser)+number(fieldSystem)) * (time.Second / ticksPerSecond)
	s.resident = number(fieldResident) * int64(os.Getpagesize())
	s.parent = int(number(fieldParent))
	return s, err
}

func readProportional(pid int) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kibibytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kibibytes << 10, err
		}
	}
	return 0, fmt.Errorf("process %d: no Pss", pid)
}

package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// stat has the needed fields of /proc/PID/stat.
type stat struct {
	id, parent          int
	ticks               uint64 // CPU time, in USER_HZ
	threads, pages      uint64
	faults, majorFaults uint64
}

// A Filter selects processes. all has every process by its id.
type Filter func(s stat, all map[int]stat) bool

// All selects every process that this one sees.
func All(stat, map[int]stat) bool { return true }

// tick is 1/USER_HZ in nanoseconds. USER_HZ is 100 on all Linux systems that Go supports.
const tick = 10_000_000

// Measure returns the summed usage of the selected processes.
func Measure(of Filter) (wire.Usage, error) {
	all, err := read()
	if err != nil {
		return wire.Usage{}, err
	}
	var u wire.Usage
	page := uint64(os.Getpagesize())
	for _, s := range all {
		if !of(s, all) {
			continue
		}
		u.CPU += s.ticks * tick
		u.RSS += s.pages * page
		u.Processes += s.threads
		u.Faults, u.MajorFaults = u.Faults+s.faults, u.MajorFaults+s.majorFaults
	}
	u.Memory, u.WorkingSet = u.RSS, u.RSS
	return u, nil
}

// Of selects the processes of the container whose first process is pid: those of its pid namespace, including processes
// that entered it. Without a pid namespace of its own, it selects pid and its descendants.
func Of(pid int) (Filter, error) {
	namespace, err := namespaceOf(strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	own, err := namespaceOf("self")
	if err != nil {
		return nil, err
	}
	if own == namespace {
		return func(s stat, all map[int]stat) bool { return descends(s, pid, all) }, nil
	}
	return func(s stat, _ map[int]stat) bool {
		of, err := namespaceOf(strconv.Itoa(s.id))
		return err == nil && of == namespace
	}, nil
}

func namespaceOf(process string) (string, error) {
	name, err := os.Readlink(filepath.Join("/proc", process, "ns/pid"))
	if err != nil {
		return "", fmt.Errorf("measure a container: %w", err)
	}
	return name, nil
}

func descends(s stat, ancestor int, all map[int]stat) bool {
	for ok := true; ok; s, ok = all[s.parent] {
		if s.id == ancestor {
			return true
		}
	}
	return false
}

func read() (map[int]stat, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("measure processes: %w", err)
	}
	all := map[int]stat{}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		if s, ok := parse(text); ok {
			s.id = id
			all[id] = s
		}
	}
	return all, nil
}

// Indexes of fields in /proc/PID/stat, counted from the field after the process's name (proc_pid_stat(5)).
const (
	fieldParent      = 1
	fieldFaults      = 7
	fieldMajorFaults = 9
	fieldTime        = 11 // utime, stime, cutime and cstime
	fieldThreads     = 17
	fieldPages       = 21
)

func parse(text []byte) (stat, bool) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= fieldPages {
		return stat{}, false
	}
	n := func(i int) uint64 {
		v, _ := strconv.ParseUint(fields[i], 10, 64)
		return v
	}
	return stat{
		parent: int(n(fieldParent)), ticks: n(fieldTime) + n(fieldTime+1) + n(fieldTime+2) + n(fieldTime+3),
		threads: n(fieldThreads), pages: n(fieldPages), faults: n(fieldFaults), majorFaults: n(fieldMajorFaults),
	}, true
}

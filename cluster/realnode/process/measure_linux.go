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

// stat is what is known of a process.
type stat struct {
	id, parent          int
	ticks               uint64 // of CPU time
	threads, pages      uint64
	faults, majorFaults uint64
}

// A Filter says which processes are meant.
type Filter func(s stat, all map[int]stat) bool

// All are those that this process sees.
func All(stat, map[int]stat) bool { return true }

// tick is 1/USER_HZ, which is the same on all systems with Linux that Go knows.
const tick = 10_000_000

// Measure sums up what processes use.
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

// Of are the processes of a container, the first of which is pid: those in its pid namespace, also if they have entered
// it. Where it has none of its own, they are those that have it as an ancestor.
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

// The fields of a line in a file like /proc/1/stat, counted from the one after the process's name.
const (
	fieldParent      = 1
	fieldFaults      = 7
	fieldMajorFaults = 9
	fieldTime        = 11 // of the user, the system, and both of children
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

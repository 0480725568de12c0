package prove

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what a process and those that it has started have used of the processor; 0 if that is not known.
func processorTime(pid int) (used time.Duration) {
	// The clock of another process: see CPUCLOCK_SCHED in the kernel's include/linux/posix-timers.h.
	var clock unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|2), &clock) == nil {
		used = time.Duration(clock.Nano())
	}
	for _, child := range children(pid) {
		used += processorTime(child)
	}
	return used
}

// children are the processes that a process has started and that have not ended.
func children(pid int) (all []int) {
	for _, thread := range threads(pid) {
		text, err := os.ReadFile(filepath.Join(thread, "children"))
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// waits reports whether a thread of the process would go on if it got a processor.
func waits(pid int) bool {
	for _, thread := range threads(pid) {
		text, err := os.ReadFile(filepath.Join(thread, "stat"))
		if err != nil {
			continue
		}
		if _, rest, _ := strings.Cut(string(text), ") "); strings.HasPrefix(rest, "R") {
			return true
		}
	}
	return false
}

// threads are the folders of a process's threads.
func threads(pid int) (all []string) {
	folder := filepath.Join("/proc", strconv.Itoa(pid), "task")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		all = append(all, filepath.Join(folder, e.Name()))
	}
	return all
}

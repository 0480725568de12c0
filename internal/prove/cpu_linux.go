package prove

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processorTime is what the threads of a process have used; 0 if that is not known.
func processorTime(pid int) (used time.Duration) {
	threads := filepath.Join("/proc", strconv.Itoa(pid), "task")
	entries, err := os.ReadDir(threads)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(threads, e.Name(), "schedstat"))
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(text), " ")
		nanoseconds, err := strconv.ParseInt(first, 10, 64)
		if err == nil {
			used += time.Duration(nanoseconds)
		}
	}
	return used
}

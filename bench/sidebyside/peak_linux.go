package sidebyside

import (
	"os"
	"syscall"
)

// peak is what the process, or the largest of those it waited for, had in memory at most.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10 // getrusage(2) tells kibibytes
}

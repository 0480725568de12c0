package serve

import (
	"fmt"
	"os"
)

// residentMemory is what the process takes of the machine's memory, in bytes; 0 if that is not known.
func residentMemory() int64 {
	f, err := os.Open("/proc/self/statm")
	if err != nil {
		return 0
	}
	defer f.Close()
	var total, resident int64
	if _, err := fmt.Fscan(f, &total, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

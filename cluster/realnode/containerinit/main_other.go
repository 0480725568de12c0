//go:build !linux

package containerinit

import (
	"fmt"
	"os"
)

// Main reports that this program needs Linux.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "slipway-container needs Linux")
	return 2
}

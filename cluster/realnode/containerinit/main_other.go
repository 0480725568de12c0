//go:build !linux

package containerinit

import (
	"fmt"
	"os"
)

// Main says that there are no containers here.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "slipway-container needs Linux")
	return 2
}

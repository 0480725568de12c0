//go:build !linux

package kubelet

import (
	"fmt"
	"os"
)

// Main says that there are no real nodes here.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "slipway-node needs Linux")
	return 2
}

//go:build !linux

package plain

import (
	"fmt"
	"os"
	"runtime"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
)

// openTerminal fails: terminals are implemented on Linux only.
func openTerminal() (ours, theirs *os.File, err error) {
	return nil, nil, fmt.Errorf("%w: a terminal for a plain process on %s; without -t it runs", cri.ErrUnsupported, runtime.GOOS)
}

// Slipway-container is what containers of real nodes, and the namespaces of those, begin with. It belongs to
// slipway-node and lies beside it.
package main

import (
	"os"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/keeper"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == keeper.Part {
		os.Exit(keeper.Main())
	}
	os.Exit(containerinit.Main(os.Args))
}

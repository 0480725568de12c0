// Slipway-container is what containers of real nodes, and the namespaces of those, begin with. It belongs to slipway-node and
// lies beside it.
package main

import (
	"os"

	"github.com/slipway-dev/slipway/cluster/realnode/inside"
)

func main() { os.Exit(inside.Main(os.Args)) }

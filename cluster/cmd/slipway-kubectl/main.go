// Slipway-kubectl is the kubectl of the embedded cluster's version. It lies beside slipway-cluster.
package main

import (
	"fmt"
	"os"

	"github.com/slipway-dev/slipway/cluster/kubectl"
	"github.com/slipway-dev/slipway/cluster/version"
)

func main() {
	if err := version.Stamp(); err != nil {
		fmt.Fprintf(os.Stderr, "slipway-kubectl: %v\n", err)
		os.Exit(1)
	}
	os.Exit(kubectl.Run(os.Args))
}

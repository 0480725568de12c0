// Slipway-node is a real node of an embedded cluster: the kubelet with a container runtime.
package main

import (
	"os"

	"github.com/slipway-dev/slipway/cluster/realnode/kubelet"
)

func main() { os.Exit(kubelet.Main(os.Args)) }

// Slipway-cluster is a Kubernetes cluster for operator developers in one process.
// See docs/inside/protocol.md for how `slipway` runs it.
package main

import (
	"context"
	"os"
	"time"

	_ "github.com/slipway-dev/slipway/cluster/helptext" // answers before main
	"github.com/slipway-dev/slipway/cluster/multicall"
)

func main() {
	started := time.Now()
	os.Exit(multicall.Run(context.Background(), multicall.Env{
		Args:    os.Args,
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Started: started,
		Exit:    os.Exit,
	}))
}

// Command slipway builds, runs, proves and ships Kubernetes operators.
package main

import (
	"context"
	"os"

	"github.com/slipway-dev/slipway/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Process()))
}

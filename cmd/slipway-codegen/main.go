// Command slipway-codegen runs the generators of k8s.io/code-generator for
// slipway, which builds it and talks to it, see package codegen.
package main

import (
	"os"

	"github.com/slipway-dev/slipway/internal/codegen/kubernetes"
)

func main() {
	os.Exit(kubernetes.Main(os.Stdin, os.Stdout, os.Stderr))
}

// Slipway-check says what an API server would say to CustomResourceDefinitions. It reads a question and writes an
// answer, each of them one JSON value:
//
//	slipway-check check    {"files":[{"name","content"}]}       → {"protocol","kubernetes","findings":[…]}
//	slipway-check samples  {"files":[…],"samples":[…]}           → {"protocol","kubernetes","findings":[…]}
//	slipway-check compare  {"before":[…],"after":[…]}            → {"protocol","kubernetes","changes":[…]}
//	slipway-check version                                        → {"protocol","kubernetes"}
//
// What is wrong with the definitions is the answer; it fails only for what it cannot read.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/slipway-dev/slipway/cluster/crdcheck"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := crdcheck.Serve(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "slipway-check: %v\n", err)
		os.Exit(1)
	}
}

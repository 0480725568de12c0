// Command slipway-image builds, pushes and keeps container images for slipway,
// which builds it and talks to it, see package image.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-dev/slipway/internal/image/answer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := answer.Main(ctx, os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Command bench runs the benchmarks one after the other, each with its defaults, and fails when one of them does.
//
//	go run .                 # all
//	go run . cluster         # those that are named
//
// Each is a command of its own with its own flags: go run ./cluster -help.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/slipway-dev/slipway/bench/build"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	names := os.Args[1:]
	if len(names) == 0 {
		names = []string{"start", "generate", "controllergen", "scaffold", "image", "dev", "pods", "fleet", "prove", "cluster"}
	}
	if err := run(ctx, names); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run goes on after a benchmark that failed: a bar that one missed says nothing of the others.
func run(ctx context.Context, names []string) error {
	root, err := build.Root(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		fmt.Printf("\n## %s\n\n", name)
		cmd := exec.CommandContext(ctx, "go", "run", "-C", filepath.Join(root, "bench"), "./"+name)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends what it started
		if err := cmd.Run(); err != nil {
			errs = append(errs, fmt.Errorf("bench %s: %w", name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// Command dev measures `slipway dev` from a save until it is effective, in a project that kubebuilder made, beside
// `go build` and `make run` of the same change. It also measures the start of the loop, and what the loop uses while
// nothing is saved. The report is a Markdown table; the command fails when a bar is missed.
//
//	go run ./dev
//	go run ./dev -only save,marker -runs 15
//
// kubebuilder and controller-gen are installed by the go command. SLIPWAY_CLUSTER and SLIPWAY_CHECK name the built
// programs of clusters and of the check of CRDs; otherwise they are built. Home folder, kubeconfig and cluster are the
// benchmark's own, Go's caches are the user's. docs/inside/benchmarks.md explains the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-dev/slipway/bench/experiment"
)

var experiments = experiment.List[*bench]{
	{Name: "save", Run: save}, {Name: "marker", Run: marker}, {Name: "sample", Run: sample},
	{Name: "start", Run: start}, {Name: "flags", Run: flags}, {Name: "image", Run: image}, {Name: "idle", Run: idle},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", experiment.MinRuns, fmt.Sprintf("runs of each contender; a measurement needs %d", experiment.MinRuns))
	only := flag.String("only", "", "the `experiments` to make, separated by commas: "+experiments.Names()+"; empty means all")
	flag.Parse()
	if err := run(ctx, os.Stdout, max(*runs, 1), *only); err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, runs int, only string) (err error) {
	chosen, err := experiments.Only(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b, err := prepare(ctx, dir, runs)
	if err != nil {
		return err
	}
	if err := b.run(ctx, dir, "cluster", "start"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.run(context.WithoutCancel(ctx), dir, "cluster", "stop")) }()
	if err := chosen.Run(ctx, out, b); err != nil {
		return err
	}
	if runs < experiment.MinRuns {
		return fmt.Errorf("%w: %d, at least %d", errFewRuns, runs, experiment.MinRuns)
	}
	return nil
}

// errFewRuns keeps a trial from passing as a measurement.
var errFewRuns = errors.New("too few runs for a median")

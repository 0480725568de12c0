// Command controllergen measures `slipway controller-gen` against controller-gen itself: the same command line, each on
// a copy of the same real code, as whole processes that take turns. It prints medians with the ratio and the bar of
// each as a Markdown table, and fails when a bar is missed or when the two did not write the same bytes.
//
//	go run ./controllergen                    # all experiments
//	go run ./controllergen -only change,curve
//
// docs/inside/benchmarks.md says what each figure means.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/experiment"
)

var experiments = experiment.List[*bench]{
	{Name: "change", Run: change},
	{Name: "versions", Run: versions},
	{Name: "unchanged", Run: unchanged},
	{Name: "repository", Run: repository},
	{Name: "empty", Run: emptyCaches},
	{Name: "curve", Run: curve},
	{Name: "nothing", Run: fromNothing},
	{Name: "apply", Run: apply},
	{Name: "clients", Run: clients},
	{Name: "check", Run: check},
}

func main() {
	// As a link does: a repository may pin another version than the peer's.
	if err := os.Setenv("SLIPWAY_STANDS_FOR", "v0.23.0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", experiment.MinRuns, fmt.Sprintf("runs of each program, at least %d", experiment.MinRuns))
	only := flag.String("only", "", "the `experiments` to make, separated by commas: "+experiments.Names()+"; empty means all")
	flag.Parse()
	if err := run(ctx, os.Stdout, max(*runs, experiment.MinRuns), *only); err != nil {
		fmt.Fprintln(os.Stderr, "controllergen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, runs int, only string) error {
	chosen, err := experiments.Only(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{dir: dir, runs: runs, cache: filepath.Join(dir, "cache")}
	if b.slipway, err = build.Slipway(ctx, dir); err != nil {
		return err
	}
	if b.peer, err = build.ControllerGen(ctx, dir); err != nil {
		return err
	}
	return chosen.Run(ctx, out, b)
}

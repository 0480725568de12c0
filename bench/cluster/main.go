// Command cluster measures the embedded cluster against controller-runtime's envtest on stock programs of the same
// version, and by itself where envtest has no counterpart. Both sides take turns within one run, after a warm-up that
// does not count; the report is a Markdown table of medians and ratios. It fails when a bar is missed.
//
//	go run ./cluster
//	go run ./cluster -runs 21 -only start,writes
//
// SLIPWAY_CLUSTER names the built program; otherwise it is built. The stock programs are built once and kept in the
// user's cache folder. Slipway's side always includes controllers, scheduler and a node, which envtest does not have.
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

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/slipway-dev/slipway/bench/assets"
	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/experiment"
)

var experiments = experiment.List[*bench]{
	{Name: "start", Run: start}, {Name: "idle", Run: idle}, {Name: "writes", Run: writes},
	{Name: "reset", Run: reset}, {Name: "logical", Run: logical}, {Name: "help", Run: help},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("cluster", flag.ExitOnError) // flag.CommandLine has controller-runtime's -kubeconfig too
	runs := flags.Int("runs", experiment.MinRuns, fmt.Sprintf("runs of each contender, at least %d", experiment.MinRuns))
	only := flags.String("only", "", "the `experiments` to make, separated by commas: "+experiments.Names()+"; empty means all")
	_ = flags.Parse(os.Args[1:])
	log.SetLogger(logr.Discard()) // envtest's progress
	klog.SetLogger(logr.Discard())
	if err := run(ctx, os.Stdout, max(*runs, experiment.MinRuns), *only); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
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
	b, err := prepare(ctx, dir, runs)
	if err != nil {
		return err
	}
	return chosen.Run(ctx, out, b)
}

func prepare(ctx context.Context, dir string, runs int) (*bench, error) {
	program, err := assets.Program(ctx, dir)
	if err != nil {
		return nil, err
	}
	folder, err := assets.Ours(ctx, dir)
	if err != nil {
		return nil, err
	}
	stock, err := assets.Stock(ctx)
	if err != nil {
		return nil, err
	}
	return &bench{
		runs:          runs,
		slipway:       controlplane.Slipway{Program: program, Dir: filepath.Join(dir, "cluster")},
		envtest:       controlplane.Envtest{Folder: stock},
		slipwayAssets: folder,
		stockAssets:   stock,
	}, nil
}

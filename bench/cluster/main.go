// Command cluster measures the embedded cluster against controller-runtime's envtest on stock programs of the same version, and by
// itself where envtest has no counterpart. Both sides take turns within one run, after a warm-up that does not count; the report
// is a Markdown table of medians and ratios. It fails when a bar is missed.
//
//	go run ./cluster
//	go run ./cluster -runs 21 -only start,writes
//
// SLIPWAY_CLUSTER names the built program; otherwise it is built. The stock programs are built once and kept in the user's cache
// folder. Slipway's side always includes controllers, scheduler and a node, which envtest does not have. docs/benchmarks.md says what
// each figure means.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/slipway-dev/slipway/bench/assets"
	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// minRuns is how many runs a median is taken of at least.
const minRuns = 7

var (
	errBarMissed = errors.New("a bar was missed")
	errUsage     = errors.New("usage")
)

// An experiment measures some figures.
type experiment struct {
	name string
	run  func(context.Context, *bench) ([]sidebyside.Figure, error)
}

func experiments() []experiment {
	return []experiment{
		{"start", start}, {"idle", idle}, {"writes", writes}, {"reset", reset}, {"logical", logical}, {"help", help},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("cluster", flag.ExitOnError) // flag.CommandLine has controller-runtime's -kubeconfig too
	runs := flags.Int("runs", minRuns, fmt.Sprintf("runs of each contender, at least %d", minRuns))
	only := flags.String("only", "", "the `experiments` to make, separated by commas: "+names(experiments())+"; empty means all")
	_ = flags.Parse(os.Args[1:])
	log.SetLogger(logr.Discard()) // envtest's progress
	klog.SetLogger(logr.Discard())
	if err := run(ctx, os.Stdout, max(*runs, minRuns), *only); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func names(all []experiment) string {
	var list []string
	for _, e := range all {
		list = append(list, e.name)
	}
	return strings.Join(list, ",")
}

func selected(only string) ([]experiment, error) {
	if only == "" {
		return experiments(), nil
	}
	var list []experiment
	for name := range strings.SplitSeq(only, ",") {
		at := slices.IndexFunc(experiments(), func(e experiment) bool { return e.name == name })
		if at < 0 {
			return nil, fmt.Errorf("%w: there is no experiment %q, only %s", errUsage, name, names(experiments()))
		}
		list = append(list, experiments()[at])
	}
	return list, nil
}

// run makes the experiments one after the other. It goes on after one that failed: that says nothing of the others.
func run(ctx context.Context, out io.Writer, runs int, only string) error {
	chosen, err := selected(only)
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
	var figures []sidebyside.Figure
	var failures []error
	for _, e := range chosen {
		f, err := e.run(ctx, b)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", e.name, err))
		}
		figures = append(figures, f...)
		if ctx.Err() != nil {
			break
		}
	}
	failures = append(failures, sidebyside.Figures(out, figures...))
	for _, f := range figures {
		if !f.Passed() {
			failures = append(failures, fmt.Errorf("%w: %s", errBarMissed, f.Case))
		}
	}
	return errors.Join(failures...)
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

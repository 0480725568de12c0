// Command compile measures the cold compile of slipway-cluster against that of a program which imports Kubernetes' own
// commands (imports.txt): the processor time of the compilers, from an empty build cache, without the standard library
// and without linking.
//
//	go run ./compile                      # two hours on two cores: 7 rounds
//	go run ./compile -runs 1 -packages 40 # a round, and what the costliest packages bring
//	go run ./compile -estimate            # seconds: by the amount of source code, compiling nothing
//
// Processor time, because the wall time of a compile says more about the number of cores and their other work. There
// are two figures:
//
//   - The bar's compares ours as `slipway cluster build` has it compiled with the reference as the go command compiles
//     by itself.
//   - The other one is of the imports alone. Both sides are compiled the same way into one cache, and the go command
//     reports what each package cost. A package that both import is compiled once and counts for both, so that the
//     machine's load does not change the ratio.
//
// The estimate knows nothing of what a package costs besides its size: each one that has client-go's large interfaces
// in its types costs as much as thousands of lines.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// asSlipway is what `slipway cluster build` sets for the go command, in internal/program.
var asSlipway = []string{"GOGC=200"}

// defaultRuns is how many rounds a median is taken of.
const defaultRuns = 7

// bar is the largest acceptable part of the processor time.
const bar = 0.85

var errBarMissed = errors.New("the bar was missed")

//go:embed imports.txt
var imports string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", defaultRuns, "rounds")
	packages := flag.Int("packages", 0, "list this many of the costliest packages, each with all that it alone imports")
	estimate := flag.Bool("estimate", false, "compare the amount of source code, and compile nothing")
	flag.Parse()
	if err := run(ctx, *runs, *packages, *estimate); err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, runs, packages int, estimate bool) error {
	root, err := build.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	module := filepath.Join(root, "cluster")
	reference, err := referenceModule(ctx, module, filepath.Join(dir, "reference"))
	if err != nil {
		return err
	}
	ours := target{module, []string{"./cmd/slipway-cluster"}}
	if estimate {
		return tellEstimate(ctx, ours, reference)
	}
	return measure(ctx, dir, runs, packages, ours, reference)
}

func measure(ctx context.Context, dir string, runs, packages int, ours, reference target) error {
	our, err := ours.graph(ctx)
	if err != nil {
		return err
	}
	their, err := reference.graph(ctx)
	if err != nil {
		return err
	}
	whole := sidebyside.Figure{Case: "processor time of a cold compile, against Kubernetes' own commands", Unit: "s", Bar: sidebyside.RatioAtMost(bar)}
	alone := sidebyside.Figure{Case: "the same, of the imports alone", Unit: "s"}
	var spent costs
	for round := range runs {
		if spent, err = compile(ctx, dir, asSlipway, ours, reference); err != nil {
			return err
		}
		plain, err := compile(ctx, dir, nil, reference)
		if err != nil {
			return err
		}
		our := our.cost(spent).Seconds()
		whole.Ours, whole.Peer = append(whole.Ours, our), append(whole.Peer, their.cost(plain).Seconds())
		alone.Ours, alone.Peer = append(alone.Ours, our), append(alone.Peer, their.cost(spent).Seconds())
		fmt.Fprintf(os.Stderr, "compile: round %d of %d: %.0f s and %.0f s of processor time\n", round+1, runs, our, whole.Peer[round])
	}
	if err := sidebyside.Figures(os.Stdout, whole, alone); err != nil {
		return err
	}
	if packages > 0 {
		tellCostliest(os.Stdout, packages, our, their, spent)
	}
	if !whole.Passed() {
		return errBarMissed
	}
	return nil
}

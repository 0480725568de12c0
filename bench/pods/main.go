// Command pods measures what pods on real nodes take, as their user sees it through the API, and prints the figures as
// a Markdown table. It fails when one misses its bar.
//
//	go run ./pods
//	go run ./pods -runs 15
//	go run ./pods -only pod,deploy
//
// The programs of clusters and of real nodes are built first unless SLIPWAY_CLUSTER and SLIPWAY_NODE name them. The
// peer of "start" is the same cluster with simulated nodes, that of "container" is runc: the one on PATH, or else
// Debian's package, unpacked for the time of the run. The others have none: a container engine is what is not needed
// here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// minRuns is how many runs a median is taken of at least.
const minRuns = 7

var errBarMissed = errors.New("a bar was missed")

// An experiment measures one or more figures.
type experiment struct {
	name string
	run  func(*bench, context.Context) ([]sidebyside.Figure, error)
}

// experiments are all of them, in the order in which they run.
func experiments() []experiment {
	return []experiment{
		{"start", (*bench).start}, {"container", (*bench).container}, {"pod", (*bench).pod}, {"claims", (*bench).claims},
		{"hundred", (*bench).hundred}, {"deploy", (*bench).deploy},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", minRuns, fmt.Sprintf("runs of each, at least %d", minRuns))
	only := flag.String("only", "", "`names` of experiments, with commas between them; default: all")
	flag.Parse()
	if err := run(ctx, max(*runs, minRuns), *only); err != nil {
		fmt.Fprintln(os.Stderr, "pods:", err)
		os.Exit(1)
	}
}

// run measures and prints.
func run(ctx context.Context, runs int, only string) error {
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
	for _, e := range experiments() {
		if only != "" && !slices.Contains(strings.Split(only, ","), e.name) {
			continue
		}
		measured, err := e.run(b, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		figures = append(figures, measured...)
	}
	if err := sidebyside.Figures(os.Stdout, figures...); err != nil {
		return err
	}
	for _, f := range figures {
		if !f.Passed() {
			err = errors.Join(err, fmt.Errorf("%w: %s", errBarMissed, f.Case))
		}
	}
	return err
}

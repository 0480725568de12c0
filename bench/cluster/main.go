// Command cluster measures how long it takes from nothing to a control plane on which a custom resource is established and can be
// listed: `slipway-cluster`, controllers, scheduler and a node included, against controller-runtime's envtest on stock
// programs of the same version. It prints the ratio as a Markdown table and fails when the bar is missed.
//
//	go run ./cluster
//	go run ./cluster -runs 21
//
// SLIPWAY_CLUSTER names the built program; otherwise it is built. The stock programs are built once and kept in the
// user's cache folder. CPU time and memory are those of the contender's processes at the moment when the custom resource can
// be listed, where the operating system tells (Linux).
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

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/slipway-dev/slipway/bench/assets"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// minRuns is how many runs a median is taken of at least.
const minRuns = 7

var errBarMissed = errors.New("the bar was missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	runs := flag.Int("runs", 9, fmt.Sprintf("runs of each contender, at least %d", minRuns))
	bar := flag.Float64("bar", 0.4, "the largest acceptable part of envtest's time")
	flag.Parse()
	log.SetLogger(logr.Discard()) // envtest's progress
	if err := run(ctx, os.Stdout, max(*runs, minRuns), *bar); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, runs int, bar float64) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, err := assets.Program(ctx, dir)
	if err != nil {
		return err
	}
	folder, err := assets.Stock(ctx)
	if err != nil {
		return err
	}
	a := ours{program: program, dir: filepath.Join(dir, "cluster"), memory: &memory{}}
	b := stock{folder: folder, memory: &memory{}}
	results, err := sidebyside.Compare(ctx, runs, a.contender(), b.contender())
	if err != nil {
		return err
	}
	row := sidebyside.Row{Case: "start to CRD established", Ours: results[0], Peer: results[1], Bar: bar}
	if err := tell(out, row, a.memory.median(), b.memory.median()); err != nil {
		return err
	}
	if !row.Passed() {
		return fmt.Errorf("%w: %s", errBarMissed, row.Case)
	}
	return nil
}

// tell prints the table and, where it is known, the memory.
func tell(out io.Writer, row sidebyside.Row, ours, peer int64) error {
	if err := sidebyside.Table(out, row); err != nil || ours == 0 || peer == 0 {
		return err
	}
	const mebibyte = 1 << 20
	_, err := fmt.Fprintf(out, "\nResident memory then: %d MiB against %d MiB, %.2f.\n",
		ours/mebibyte, peer/mebibyte, float64(ours)/float64(peer))
	return err
}

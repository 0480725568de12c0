// Command generate measures `slipway generate` against controller-gen on a real
// project, as whole processes side by side, and prints the ratios as a Markdown
// table. It fails when a bar is missed.
//
//	go run ./generate                      # examples/cronjob
//	go run ./generate -project DIR -runs 21
//
// Both programs do the same work: DeepCopy methods, CRDs and the manager's role
// for all packages of the project, each on a copy of its own. That they write the
// same bytes is the business of test/differential/generate.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/slipway-dev/slipway/bench/generation"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// minRuns is how many runs a median is taken of at least.
const minRuns = 7

var errBarMissed = errors.New("a bar was missed")

func main() {
	// As a link does: a repository may pin another version than the peer's.
	if err := os.Setenv("SLIPWAY_STANDS_FOR", "v0.23.0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	project := flag.String("project", "", "the project to generate for; examples/cronjob when empty")
	runs := flag.Int("runs", 11, fmt.Sprintf("runs of each program, at least %d", minRuns))
	bar := flag.Float64("bar", 0.1, "the largest acceptable part of controller-gen's time")
	flag.Parse()
	if err := run(ctx, *project, max(*runs, minRuns), *bar); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, project string, runs int, bar float64) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs, err := generation.Build(ctx, dir)
	if err != nil {
		return err
	}
	if project == "" {
		if project, err = generation.CronJob(ctx); err != nil {
			return err
		}
	}
	ours, peer := filepath.Join(dir, "ours"), filepath.Join(dir, "peer")
	for _, to := range []string{ours, peer} {
		if err := generation.Copy(project, to); err != nil {
			return err
		}
	}
	rows, err := measure(ctx, programs, ours, peer, runs, bar)
	if err != nil {
		return err
	}
	return tell(rows)
}

// measure compares the programs with nothing generated yet and with everything
// up to date.
func measure(ctx context.Context, programs generation.Programs, ours, peer string, runs int, bar float64) ([]sidebyside.Row, error) {
	cases := []struct {
		name    string
		prepare func(dir string) error
	}{
		{"everything to write", generation.RemoveGenerated},
		{"nothing changed", func(string) error { return nil }},
	}
	var rows []sidebyside.Row
	for _, c := range cases {
		a := sidebyside.Process("slipway generate", func(ctx context.Context) *exec.Cmd { return programs.Generate(ctx, ours) })
		a.Prepare = func(context.Context) error { return c.prepare(ours) }
		b := sidebyside.Process("controller-gen", func(ctx context.Context) *exec.Cmd { return programs.ControllerGen(ctx, peer) })
		b.Prepare = func(context.Context) error { return c.prepare(peer) }
		results, err := sidebyside.Compare(ctx, runs, a, b)
		if err != nil {
			return nil, err
		}
		rows = append(rows, sidebyside.Row{Case: c.name, Ours: results[0], Peer: results[1], Bar: bar})
	}
	return rows, nil
}

func tell(rows []sidebyside.Row) error {
	if err := sidebyside.Table(os.Stdout, rows...); err != nil {
		return err
	}
	for _, r := range rows {
		if !r.Passed() {
			return fmt.Errorf("%w: %s", errBarMissed, r.Case)
		}
	}
	return nil
}

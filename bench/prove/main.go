// Command prove measures `slipway prove` on two examples and prints the figures as a Markdown table. It fails when a
// bar is missed.
//
//	go run ./prove
//	go run ./prove -rounds 5
//
// RedisCluster is proved with its samples, CronJob with a scenario that does not wait for the clock. A row has the
// median of the rounds. There is no peer: Sieve (OSDI 2022) needs about eight minutes a plan, with kind and Docker.
//
// SLIPWAY_CLUSTER names the built program; otherwise it is built.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/bench/build"
)

var errBarMissed = errors.New("a bar was missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rounds := flag.Int("rounds", 3, "how often each operator is proved")
	flag.Parse()
	if err := run(ctx, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

// figures are those of a proof.
type figures struct {
	Plans, Writes                                    int
	LearningSeconds, ExploringSeconds, MedianSeconds float64
	ClusterBytes                                     int64
	Findings                                         []struct{ Confirmed bool }

	whole time.Duration // of the command
}

func run(ctx context.Context, rounds int) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	root, err := build.Root(ctx)
	if err != nil {
		return err
	}
	slipway, err := build.Slipway(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Print("| operator | plans | a plan, in the median | bar | learning | bar | whole | bar | memory of the clusters | bar |\n|---|---|---|---|---|---|---|---|---|---|\n")
	var missed []error
	for _, c := range []struct {
		example   string
		arguments []string
	}{{"rediscluster", nil}, {"cronjob", []string{"-f", "prove/yearly.yaml"}}} {
		var all []figures
		for range max(1, rounds) {
			f, err := measure(ctx, slipway, filepath.Join(root, "examples", c.example), c.arguments)
			if err != nil {
				return err
			}
			all = append(all, f)
		}
		missed = append(missed, show(c.example, all))
	}
	return errors.Join(missed...)
}

// measure proves an operator. With findings it fails: the figures would be of other work.
func measure(ctx context.Context, slipway, folder string, arguments []string) (f figures, err error) {
	cmd := exec.CommandContext(ctx, slipway, append([]string{"prove", "--output", "json"}, arguments...)...)
	var out, messages bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, &messages
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends what it started
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return f, fmt.Errorf("prove %s: %w\n%s%s", folder, err, out.String(), messages.String())
	}
	whole := time.Since(begin)
	const longestLine = 1 << 26
	scanner := bufio.NewScanner(&out)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		var e struct {
			Event string
			Value figures
		}
		if json.Unmarshal(scanner.Bytes(), &e) == nil && e.Event == "result" {
			e.Value.whole = whole
			return e.Value, nil
		}
	}
	return f, cmp.Or(scanner.Err(), errors.New("prove has no result"))
}

// A bar is a figure that is not to be larger.
type bar struct {
	of    func(figures) float64
	most  float64
	print string
}

var bars = []bar{
	{func(f figures) float64 { return f.MedianSeconds }, 0.25, "%.2f s"},
	{func(f figures) float64 { return f.LearningSeconds }, 10, "%.1f s"},
	{func(f figures) float64 { return f.whole.Seconds() }, 45, "%.0f s"},
	{func(f figures) float64 { return float64(f.ClusterBytes) / (1 << 20) }, 700, "%.0f MiB"},
}

// show prints the medians of an operator. The error names what missed its bar.
func show(operator string, all []figures) (err error) {
	fmt.Printf("| %s | %d |", operator, all[0].Plans)
	for _, b := range bars {
		var values []float64
		for _, f := range all {
			values = append(values, b.of(f))
		}
		slices.Sort(values)
		median := values[len(values)/2]
		fmt.Printf(" "+b.print+" | "+b.print+" |", median, b.most)
		if median > b.most {
			err = errors.Join(err, fmt.Errorf("%w: %s: "+b.print+" are more than "+b.print, errBarMissed, operator, median, b.most))
		}
	}
	fmt.Println()
	return err
}

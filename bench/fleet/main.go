// Command fleet measures what a member of a fleet costs the operator of examples/fleet, and prints the figures as a
// Markdown table. It fails when a bar is missed.
//
//	go run ./fleet
//	go run ./fleet -members 48
//
// The example's own test TestScale makes the members, logical clusters of one program, and measures. There is no peer.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/bench/build"
)

var errBarMissed = errors.New("a bar was missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	members := flag.Int("members", 24, "how many members there are")
	flag.Parse()
	if err := run(ctx, *members); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// figures are what the test writes.
type figures struct {
	Members, Instances                  int
	Goroutines                          int
	Memory                              int64
	Alone, Created, Engaged, Registered time.Duration
	GoroutinesLeft                      int
	MemoryLeft                          int64
	Cluster                             int64
}

func run(ctx context.Context, members int) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	seen, err := measure(ctx, dir, members)
	if err != nil {
		return err
	}
	return seen.print()
}

// measure runs the test by the tool, as its README says.
func measure(ctx context.Context, dir string, members int) (seen figures, err error) {
	root, err := build.Root(ctx)
	if err != nil {
		return seen, err
	}
	slipway, err := build.Slipway(ctx, dir)
	if err != nil {
		return seen, err
	}
	file := filepath.Join(dir, "figures.json")
	cmd := exec.CommandContext(ctx, slipway, "test", "-count=1", "-run", "^TestScale$", "./internal/controller/fleet", "-args", "-members", strconv.Itoa(members), "-figures", file)
	cmd.Dir = filepath.Join(root, "examples", "fleet")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends what it started
	if out, err := cmd.CombinedOutput(); err != nil {
		return seen, fmt.Errorf("TestScale: %w\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return seen, err
	}
	return seen, json.Unmarshal(data, &seen)
}

// line is a row of the table. A bar of 0 is none, one of less than 1 says that the value must be 0.
type line struct {
	what  string
	value float64
	unit  string
	bar   float64
}

func (s figures) lines() []line {
	const kibibyte, mebibyte = 1 << 10, 1 << 20
	milliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return []line{
		{"goroutines for each", float64(s.Goroutines), "", 40},
		{"heap and stacks for each", float64(s.Memory) / kibibyte, "KiB", 600},
		{"one alone: from its creation until it is engaged", milliseconds(s.Alone), "ms", 1000},
		{"all at once: until the objects are created", milliseconds(s.Created), "ms", 0},
		{"all at once: until the last is engaged", milliseconds(s.Engaged), "ms", 0},
		{"all at once: until all instances are registered", milliseconds(s.Registered), "ms", 0},
		{"goroutines left after all were deleted", float64(s.GoroutinesLeft), "", 0.5},
		{"heap and stacks left of all", float64(max(0, s.MemoryLeft)) / kibibyte, "KiB", 0},
		{"resident memory of a member itself, a logical cluster", float64(s.Cluster) / mebibyte, "MiB", 170},
	}
}

// print prints the table, and returns an error for bars that were missed.
func (s figures) print() (err error) {
	fmt.Printf("%d members with %d instances each\n\n| | measured | bar |\n|---|---|---|\n", s.Members, s.Instances)
	for _, l := range s.lines() {
		bar := ""
		if l.bar > 0 {
			bar = fmt.Sprintf("%.0f %s", l.bar, l.unit)
		}
		fmt.Printf("| %s | %.0f %s | %s |\n", l.what, l.value, l.unit, bar)
		if l.bar > 0 && l.value > l.bar {
			err = errors.Join(err, fmt.Errorf("%w: %s", errBarMissed, l.what))
		}
	}
	return err
}

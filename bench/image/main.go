// Command image measures how long `slipway image build` takes for the CronJob operator, as a whole process, and prints
// the figures as a Markdown table. It fails when the build takes longer than the bar.
//
//	go run ./image
//	go run ./image -runs 21
//	go run ./image -cpu               # on a machine that is busy with other things
//
// The peer is `go build` of the same program by itself: what an image costs beside it is ours. In "nothing changed"
// the program is compiled and the image there; in "one change" a string of the program is another one in each run,
// so that it is linked, compressed and packed.
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
	"time"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// minRuns is how many runs a median is taken of at least.
const minRuns = 7

var errBarMissed = errors.New("a bar was missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", minRuns, fmt.Sprintf("runs of each, at least %d", minRuns))
	bar := flag.Float64("bar", 1000, "the longest acceptable median when nothing changed, in milliseconds")
	cpu := flag.Bool("cpu", false, "judge processor time instead of time that passes")
	flag.Parse()
	if err := run(ctx, max(*runs, minRuns), *bar, *cpu); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, runs int, bar float64, cpu bool) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	o := operator{work: filepath.Join(dir, "operator"), cache: filepath.Join(dir, "cache"), out: filepath.Join(dir, "manager")}
	if err := o.make(ctx, dir); err != nil {
		return err
	}
	same, err := o.measure(ctx, runs, cpu, false)
	if err != nil {
		return err
	}
	same.Case, same.Bar = "nothing changed", sidebyside.AtMost(bar)
	changed, err := o.measure(ctx, runs, cpu, true)
	if err != nil {
		return err
	}
	changed.Case = "one change"
	if err := sidebyside.Figures(os.Stdout, same, changed); err != nil {
		return err
	}
	if !same.Passed() {
		return fmt.Errorf("%w: %s", errBarMissed, same.Case)
	}
	return nil
}

// operator is a copy of the example, and the programs that build it.
type operator struct{ slipway, work, cache, out string }

// make copies the example and compiles the programs.
func (o *operator) make(ctx context.Context, dir string) error {
	root, err := build.Root(ctx)
	if err != nil {
		return err
	}
	if o.slipway, err = build.Slipway(ctx, dir); err != nil {
		return err
	}
	return os.CopyFS(o.work, os.DirFS(filepath.Join(root, "examples", "cronjob")))
}

// measure builds the image and the program alone in turns.
func (o *operator) measure(ctx context.Context, runs int, cpu, changed bool) (sidebyside.Figure, error) {
	edit := func(context.Context) error { return nil }
	if changed {
		n := 0
		edit = func(context.Context) error {
			n++
			text := fmt.Sprintf("package main\n\nimport \"os\"\n\nfunc init() { os.Args[0] += %q }\n", fmt.Sprint(n))
			return os.WriteFile(filepath.Join(o.work, "cmd", "change.go"), []byte(text), 0o644)
		}
	}
	image := sidebyside.Process("slipway image build", func(ctx context.Context) *exec.Cmd {
		return o.command(ctx, o.slipway, "image", "build", "-t", "cronjob:v1")
	})
	alone := sidebyside.Process("go build", func(ctx context.Context) *exec.Cmd {
		return o.command(ctx, "go", "build", "-trimpath", "-o", o.out, "./cmd")
	})
	image.Prepare, alone.Prepare = edit, edit
	results, err := sidebyside.Compare(ctx, runs, image, alone)
	if err != nil {
		return sidebyside.Figure{}, err
	}
	return sidebyside.Figure{Unit: "ms", Ours: milliseconds(results[0], cpu), Peer: milliseconds(results[1], cpu)}, nil
}

func (o *operator) command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = o.work
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "SLIPWAY_CACHE="+o.cache)
	return cmd
}

func milliseconds(r sidebyside.Result, cpu bool) []float64 {
	var all []float64
	for _, sample := range r.Samples {
		took := sample.Wall
		if cpu {
			took = sample.CPU
		}
		all = append(all, float64(took)/float64(time.Millisecond))
	}
	return all
}

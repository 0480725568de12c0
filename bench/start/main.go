// Command start measures how much longer slipway takes than a Go program that does nothing, as whole processes in turn,
// and prints the figures as a Markdown table. It fails when the difference of the medians is above a bar.
//
//	go run ./start
//	go run ./start -runs 101
//	go run ./start -cpu               # on a machine that is busy with other things
//
// The verbs are `version`, which does nothing else than start, and `generate` in the CronJob operator when nothing has
// changed since the last run.
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
const minRuns = 41

// The longest acceptable differences, in milliseconds.
const (
	versionBar  = 8
	generateBar = 12
)

var errBarMissed = errors.New("a bar was missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", minRuns, fmt.Sprintf("runs of each, at least %d", minRuns))
	cpu := flag.Bool("cpu", false, "judge processor time instead of time that passes")
	flag.Parse()
	if err := run(ctx, max(*runs, minRuns), *cpu); err != nil {
		fmt.Fprintln(os.Stderr, "start:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, runs int, cpu bool) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := programs{dir: dir, project: filepath.Join(dir, "project")}
	if err := p.make(ctx); err != nil {
		return err
	}
	results, err := sidebyside.Compare(ctx, runs, p.empty(), p.verb("version"), p.verb("generate", "--output", "json"))
	if err != nil {
		return err
	}
	return judge(results, cpu)
}

// judge prints the figures and holds the differences against the bars. The times of the empty program are the peer's.
func judge(results []sidebyside.Result, cpu bool) error {
	empty := milliseconds(results[0], cpu)
	figures := []sidebyside.Figure{
		{Case: "version", Unit: "ms", Ours: milliseconds(results[1], cpu), Peer: empty},
		{Case: "generate, nothing changed", Unit: "ms", Ours: milliseconds(results[2], cpu), Peer: empty},
	}
	if err := sidebyside.Figures(os.Stdout, figures...); err != nil {
		return err
	}
	var errs []error
	for i, bar := range []float64{versionBar, generateBar} {
		more := sidebyside.Median(figures[i].Ours) - sidebyside.Median(empty)
		fmt.Printf("\n%s: %.1f ms more than a program that does nothing; the bar is %.0f ms\n", figures[i].Case, more, bar)
		if more > bar {
			errs = append(errs, fmt.Errorf("%w: %s", errBarMissed, figures[i].Case))
		}
	}
	return errors.Join(errs...)
}

func milliseconds(r sidebyside.Result, cpu bool) []float64 {
	var samples []float64
	for _, s := range r.Samples {
		d := s.Wall
		if cpu {
			d = s.CPU
		}
		samples = append(samples, float64(d)/float64(time.Millisecond))
	}
	return samples
}

// programs are the command, the one that does nothing, and a project.
type programs struct{ dir, project string }

// make compiles the programs, copies the project and generates once.
func (p programs) make(ctx context.Context) error {
	root, err := build.Root(ctx)
	if err != nil {
		return err
	}
	if _, err := build.Slipway(ctx, p.dir); err != nil {
		return err
	}
	if err := p.makeEmpty(ctx); err != nil {
		return err
	}
	if err := os.CopyFS(p.project, os.DirFS(filepath.Join(root, "examples", "cronjob"))); err != nil {
		return err
	}
	return p.command(ctx, "generate").Run()
}

func (p programs) makeEmpty(ctx context.Context) error {
	source := filepath.Join(p.dir, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module empty\n\ngo 1.26.0\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	_, err := build.Compile(ctx, source, p.dir, "empty", ".")
	return err
}

func (p programs) empty() sidebyside.Contender {
	return sidebyside.Process("a program that does nothing", func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, filepath.Join(p.dir, "empty"))
	})
}

func (p programs) verb(args ...string) sidebyside.Contender {
	return sidebyside.Process("slipway "+args[0], func(ctx context.Context) *exec.Cmd { return p.command(ctx, args...) })
}

// command is slipway in the project, with a cache of its own.
func (p programs) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, "slipway"), args...)
	cmd.Dir = p.project
	cmd.Env = append(os.Environ(), "SLIPWAY_CACHE="+filepath.Join(p.dir, "cache"))
	return cmd
}

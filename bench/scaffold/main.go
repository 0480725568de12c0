// Command scaffold measures how long the verbs that change a project take in projects with 1, 20 and
// 100 APIs, as whole processes, and prints the figures as a Markdown table. It fails when a
// verb takes longer than the bar.
//
//	go run ./scaffold
//	go run ./scaffold -runs 21 -apis 100
//	go run ./scaffold -cpu               # on a machine that is busy with other things
//
// Every run has a copy of the project of its own. Compiling afterwards is the go command's time and not measured. CRDs
// are not checked, which happens once for each content.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// minRuns is how many runs a median is taken of at least.
const minRuns = 7

var errBarMissed = errors.New("a bar was missed")

// verbs are the calls that are measured, each in a project as it was made.
var verbs = []string{
	"create api --group ship --version v1 --kind New --resource --controller",
	"create api --group apps --version v1 --kind Deployment --resource=false --controller",
	"create webhook --group ship --version v1 --kind Kind1 --defaulting --programmatic-validation",
	"delete api --group ship --version v1 --kind Kind1",
	"edit --multigroup --dry-run",
	"edit --multigroup",
	"edit --namespaced",
	"edit --enable network-policy",
	"edit --license none",
	"generate",
	"generate --check",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", minRuns, fmt.Sprintf("runs of each verb, at least %d", minRuns))
	sizes := flag.String("apis", "1,20,100", "how many APIs the projects have")
	bar := flag.Float64("bar", 300, "the longest acceptable median, in milliseconds")
	cpu := flag.Bool("cpu", false, "judge processor time instead of time that passes")
	flag.Parse()
	if err := run(ctx, *sizes, max(*runs, minRuns), *bar, *cpu); err != nil {
		fmt.Fprintln(os.Stderr, "scaffold:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, sizes string, runs int, bar float64, cpu bool) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, err := build.Slipway(ctx, dir)
	if err != nil {
		return err
	}
	var figures []sidebyside.Figure
	for size := range strings.SplitSeq(sizes, ",") {
		apis, err := strconv.Atoi(size)
		if err != nil {
			return fmt.Errorf("-apis: %w", err)
		}
		p := project{program: program, dir: filepath.Join(dir, "project-"+size), work: filepath.Join(dir, "work"), cache: filepath.Join(dir, "cache")}
		if err := p.make(ctx, apis); err != nil {
			return err
		}
		for _, verb := range verbs {
			figure, err := p.measure(ctx, verb, runs, cpu)
			if err != nil {
				return err
			}
			figure.Case, figure.Bar = fmt.Sprintf("%d APIs: %s", apis, verb), sidebyside.AtMost(bar)
			figures = append(figures, figure)
		}
	}
	return tell(figures)
}

func tell(figures []sidebyside.Figure) error {
	if err := sidebyside.Figures(os.Stdout, figures...); err != nil {
		return err
	}
	var errs []error
	for _, f := range figures {
		if !f.Passed() {
			errs = append(errs, fmt.Errorf("%w: %s", errBarMissed, f.Case))
		}
	}
	return errors.Join(errs...)
}

// A project is one of a number of APIs, and the folder in which runs have a copy of it.
type project struct{ program, dir, work, cache string }

// make makes the project.
func (p project) make(ctx context.Context, apis int) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	calls := []string{"init --domain example.com --repo example.com/op --fetch-deps=false --skip-go-version-check"}
	for i := range apis {
		calls = append(calls, fmt.Sprintf("create api --group ship --version v1 --kind Kind%d --resource --controller --make=false", i+1))
	}
	for _, call := range append(calls, "generate") {
		if out, err := p.command(ctx, p.dir, call).CombinedOutput(); err != nil {
			return fmt.Errorf("slipway %s: %w\n%s", call, err, out)
		}
	}
	return nil
}

// command is a call of slipway in a folder.
func (p project) command(ctx context.Context, dir, call string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.program, strings.Fields(call)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SLIPWAY_CHECK=off", "SLIPWAY_CACHE="+p.cache)
	return cmd
}

// measure runs a verb in copies of the project.
func (p project) measure(ctx context.Context, verb string, runs int, cpu bool) (sidebyside.Figure, error) {
	contender := sidebyside.Process("slipway "+verb, func(ctx context.Context) *exec.Cmd { return p.command(ctx, p.work, verb) })
	contender.Prepare = func(context.Context) error {
		return errors.Join(os.RemoveAll(p.work), os.CopyFS(p.work, os.DirFS(p.dir)))
	}
	results, err := sidebyside.Compare(ctx, runs, contender)
	if err != nil {
		return sidebyside.Figure{}, err
	}
	figure := sidebyside.Figure{Unit: "ms"}
	for _, sample := range results[0].Samples {
		took := sample.Wall
		if cpu {
			took = sample.CPU
		}
		figure.Ours = append(figure.Ours, float64(took)/float64(time.Millisecond))
	}
	return figure, nil
}

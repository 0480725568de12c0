// Command compile measures the cold compile of slipway-cluster against that of a program which imports Kubernetes' own commands
// (imports.txt): the processor time of the go command and its compilers, from an empty build cache, linking left out.
//
//	go run ./compile             # tens of minutes: 7 compiles of each, in turn
//	go run ./compile -runs 1
//	go run ./compile -estimate   # seconds: by the amount of source code, compiling nothing
//
// Processor time, because the wall time of a compile says more about the number of cores and their other work. It fails when the bar
// is missed, except with -estimate, which is none: code that is mostly tables compiles faster than its size says.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// defaultRuns is how many compiles of each a median is taken of.
const defaultRuns = 7

// bar is the largest acceptable part of the processor time.
const bar = 0.85

var errBarMissed = errors.New("the bar was missed")

//go:embed imports.txt
var imports string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runs := flag.Int("runs", defaultRuns, "compiles of each")
	estimate := flag.Bool("estimate", false, "compare the amount of source code, and compile nothing")
	flag.Parse()
	if err := run(ctx, *runs, *estimate); err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, runs int, estimate bool) error {
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
	return measure(ctx, dir, runs, ours, reference)
}

// A target is what is compiled: packages of a module.
type target struct {
	module   string
	packages []string
}

// referenceModule makes a module that may import the packages of imports.txt at the versions of ours.
func referenceModule(ctx context.Context, module, dir string) (target, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return target{}, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return target{}, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return target{}, err
		}
	}
	source := "package main\n\nimport (\n"
	for line := range strings.Lines(imports) {
		if path := strings.TrimSpace(line); path != "" && !strings.HasPrefix(path, "#") {
			source += fmt.Sprintf("\t_ %q\n", path)
		}
	}
	source += ")\n\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		return target{}, err
	}
	// What only the reference imports need not be in our go.sum.
	cmd := exec.CommandContext(ctx, "go", "list", "-C", dir, "-mod=mod", "-deps", ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		return target{}, fmt.Errorf("load the reference's packages: %w\n%s", err, out)
	}
	return target{dir, []string{"."}}, nil
}

func measure(ctx context.Context, dir string, runs int, ours, reference target) error {
	var a, b []float64
	for round := range runs {
		for _, c := range []struct {
			target
			samples *[]float64
		}{{ours, &a}, {reference, &b}} {
			took, err := c.compile(ctx, filepath.Join(dir, "cache"))
			if err != nil {
				return err
			}
			*c.samples = append(*c.samples, took.Seconds())
			fmt.Fprintf(os.Stderr, "compile: round %d of %d: %.0f s of processor time\n", round+1, runs, took.Seconds())
		}
	}
	figure := sidebyside.Figure{
		Case: "processor time of a cold compile, against Kubernetes' own commands", Unit: "s", Ours: a, Peer: b, Bar: sidebyside.RatioAtMost(bar),
	}
	if err := sidebyside.Figures(os.Stdout, figure); err != nil {
		return err
	}
	if !figure.Passed() {
		return errBarMissed
	}
	return nil
}

// compile compiles everything but the standard library from nothing. Linking is left out: the packages are listed with
// their export data, for which the go command compiles them.
func (t target) compile(ctx context.Context, cache string) (time.Duration, error) {
	defer func() { _ = os.RemoveAll(cache) }()
	if err := t.list(ctx, cache, "std").Run(); err != nil {
		return 0, fmt.Errorf("compile the standard library: %w", err)
	}
	cmd := t.list(ctx, cache, t.packages...)
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("compile %s: %w", t.packages, err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

func (t target) list(ctx context.Context, cache string, packages ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-C", t.module, "-mod=mod", "-deps", "-export"}, packages...)...)
	cmd.Env = append(os.Environ(), "GOCACHE="+cache)
	cmd.Stderr = os.Stderr
	return cmd
}

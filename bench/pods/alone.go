package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/tools/benchmark/parse"
)

// alone is the benchmark of the runtime of real nodes, which starts a container while nothing else happens. It is what
// the start of a container can be compared in with a runtime that is called by itself: in a cluster the API server,
// too, works for the pod at that time.
type alone struct {
	program, folder string
	container       string // the program slipway-container
}

// prepareAlone builds it.
func (b *bench) prepareAlone(ctx context.Context) (*alone, error) {
	if os.Geteuid() != 0 {
		return nil, errNotRoot
	}
	a := &alone{
		program: filepath.Join(b.dir, "cri.test"), folder: filepath.Join(b.root, "cluster", "realnode", "isolated"),
		container: filepath.Join(b.dir, "slipway-container"),
	}
	for _, args := range [][]string{
		{"test", "-c", "-o", a.program, "."}, {"build", "-trimpath", "-ldflags=-s -w", "-o", a.container, "../../cmd/slipway-container"},
	} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = a.folder, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the runtime's benchmark: %w\n%s", err, out)
		}
	}
	return a, nil
}

var errNoResult = errors.New("the runtime's benchmark gave no result")

// startsAtOnce is how many containers one process starts for a sample, after a first one: a node lives long, and has
// started some before.
const startsAtOnce = "5x"

// start is how many milliseconds one container takes.
func (a *alone) start(ctx context.Context) (float64, error) {
	cmd := exec.CommandContext(ctx, a.program, "-test.run=^$", "-test.bench=^BenchmarkStart$", "-test.benchtime="+startsAtOnce, "-slipway-container="+a.container)
	cmd.Dir = a.folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("start a container by itself: %w\n%s", err, out)
	}
	results, err := parse.ParseSet(bytes.NewReader(out))
	if err != nil {
		return 0, err
	}
	for _, all := range results {
		return all[0].NsPerOp / 1e6, nil
	}
	return 0, fmt.Errorf("%w: %s", errNoResult, out)
}

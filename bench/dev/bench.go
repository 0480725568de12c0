package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// bench is what experiments work with: programs, an environment, and copies of one project.
type bench struct {
	runs    int
	dir     string
	root    string // of the repository
	slipway string
	env     []string
	loop    project // slipway's
	plain   project // of the go command and make
	marks   int     // the last one that was given out
}

// prepare builds the programs and makes the projects.
func prepare(ctx context.Context, dir string, runs int) (b *bench, err error) {
	b = &bench{runs: runs, dir: dir, marks: int(time.Now().UnixMilli())}
	if b.root, err = build.Root(ctx); err != nil {
		return nil, err
	}
	if b.slipway, err = build.Slipway(ctx, dir); err != nil {
		return nil, err
	}
	if b.env, err = environment(ctx, dir); err != nil {
		return nil, err
	}
	return b, b.makeProjects(ctx)
}

// environment is that of a developer with a home folder of the benchmark's own. Go's flags are its defaults: the
// Makefile of this repository sets others.
func environment(ctx context.Context, dir string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOPATH", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("find Go's caches: %w", err)
	}
	var folders map[string]string
	if err := json.Unmarshal(out, &folders); err != nil {
		return nil, fmt.Errorf("find Go's caches: %w", err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	env := append(os.Environ(), "HOME="+home, "KUBECONFIG="+filepath.Join(dir, "kubeconfig"), "GOFLAGS=", "CGO_ENABLED=0",
		"SLIPWAY_STATE="+filepath.Join(home, "state"), "SLIPWAY_CACHE="+filepath.Join(home, "cache"))
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		env = append(env, name+"="+filepath.Join(home, name))
	}
	for name, folder := range folders {
		env = append(env, name+"="+folder)
	}
	return env, nil
}

// command is a program in a folder, with the environment and more variables.
func (b *bench) command(ctx context.Context, folder, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir, cmd.Env = folder, b.env
	return cmd
}

// run runs slipway in a folder; its output is part of an error.
func (b *bench) run(ctx context.Context, folder string, arguments ...string) error {
	return output(b.command(ctx, folder, b.slipway, arguments...))
}

// output runs a command; its output is part of an error.
func output(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// client configures clients of the cluster, without limits of their own.
func (b *bench) client() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(b.dir, "kubeconfig"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// rounds does something once to warm up and then as often as there are runs.
func (b *bench) rounds(name string, once func(series) error) (series, error) {
	all := series{}
	for round := range b.runs + 1 {
		fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", name, round, b.runs)
		s := series{}
		if err := once(s); err != nil {
			return nil, err
		}
		if round == 0 {
			continue // the warm-up
		}
		for what, samples := range s {
			all[what] = append(all[what], samples...)
		}
	}
	return all, nil
}

// quantity is what a sample is a sample of.
type quantity string

// series are the samples of an experiment.
type series map[quantity][]float64

func (s series) add(what quantity, d time.Duration) { s[what] = append(s[what], milliseconds(d)) }

// figure makes a line of the report of the samples of one quantity.
func (s series) figure(what quantity, bar sidebyside.Bar) sidebyside.Figure {
	return sidebyside.Figure{Case: string(what), Unit: "ms", Ours: s[what], Bar: bar}
}

// beside makes a line of two quantities.
func (s series) beside(text string, ours, peer quantity) sidebyside.Figure {
	return sidebyside.Figure{Case: text, Unit: "ms", Ours: s[ours], Peer: s[peer]}
}

// more makes a line of what one quantity is beyond the median of another. Its median is the difference of the medians.
func (s series) more(text string, ours, peer quantity, bar sidebyside.Bar) sidebyside.Figure {
	f := sidebyside.Figure{Case: text, Unit: "ms", Bar: bar}
	for _, sample := range s[ours] {
		f.Ours = append(f.Ours, sample-sidebyside.Median(s[peer]))
	}
	return f
}

// pause waits: developers do not save while their last save is worked on.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

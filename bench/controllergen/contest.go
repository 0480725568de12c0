package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/bench/fetch"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// bench is what experiments work with.
type bench struct {
	dir           string // a folder of its own
	runs          int
	slipway, peer string // the programs
	cache         string // slipway's, instead of the user's
}

// contest is a case in which the programs do the same.
type contest struct {
	name    string
	project string // what each gets a copy of
	env     []string
	// prepare makes a copy as it has to be before a run; the runs count from 0. It may be nil.
	prepare func(copy string, run int) error
	// paths are the packages to read; "" is the whole repository.
	paths string
	// generators run; none means those of a project's Makefile.
	generators []string
	// bar is the largest part of the peer's times, and memory that of its memory; 0 is none.
	bar, memory float64
}

// arguments are the command line of both.
func (c contest) arguments() []string {
	generators := c.generators
	if len(generators) == 0 {
		generators = []string{"crd", "object", "rbac:roleName=manager-role", "webhook"}
	}
	return append(slices.Clip(generators), "paths="+cmp.Or(c.paths, "./..."))
}

// side is one of the programs, with the copy that it works on.
type side struct {
	name, copy string
	command    []string
	env        []string
}

// hold has both programs run in turn, and compares what they wrote.
func (b *bench) hold(ctx context.Context, c contest) ([]sidebyside.Figure, error) {
	ours := side{name: "slipway", copy: filepath.Join(b.dir, "ours"), command: append([]string{b.slipway, "controller-gen"}, c.arguments()...)}
	peer := side{name: "controller-gen", copy: filepath.Join(b.dir, "peer"), command: append([]string{b.peer}, c.arguments()...)}
	figures, err := b.turns(ctx, c, ours, peer)
	if err != nil {
		return nil, err
	}
	return figures, sameFiles(ours.copy, peer.copy)
}

// turns has two sides run in turn, the first of which is ours.
func (b *bench) turns(ctx context.Context, c contest, sides ...side) ([]sidebyside.Figure, error) {
	fmt.Fprintf(os.Stderr, "%s\n", c.name)
	var contenders []sidebyside.Contender
	for _, s := range sides {
		if err := os.RemoveAll(s.copy); err != nil {
			return nil, err
		}
		if err := fetch.Tree(c.project, s.copy); err != nil {
			return nil, err
		}
		contenders = append(contenders, b.contender(c, s))
	}
	debug.FreeOSMemory() // a process begins with the pages of the one that starts it, and its peak counts them
	results, err := sidebyside.Compare(ctx, b.runs, contenders...)
	if err != nil {
		return nil, err
	}
	return c.figures(results[0], results[1]), nil
}

func (b *bench) contender(c contest, s side) sidebyside.Contender {
	contender := sidebyside.Process(s.name, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
		cmd.Dir = s.copy
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "SLIPWAY_CHECK=off", "SLIPWAY_CACHE="+b.cache)
		cmd.Env = append(append(cmd.Env, c.env...), s.env...)
		return cmd
	})
	run := 0
	contender.Prepare = func(context.Context) error {
		if c.prepare == nil {
			return nil
		}
		defer func() { run++ }()
		return c.prepare(s.copy, run)
	}
	return contender
}

// figures are wall time, processor time and, where it is known, peak memory.
func (c contest) figures(ours, peer sidebyside.Result) []sidebyside.Figure {
	figure := func(what, unit string, bar float64, of func(sidebyside.Sample) float64) sidebyside.Figure {
		f := sidebyside.Figure{Case: c.name + ": " + what, Unit: unit}
		for _, s := range ours.Samples {
			f.Ours = append(f.Ours, of(s))
		}
		for _, s := range peer.Samples {
			f.Peer = append(f.Peer, of(s))
		}
		if bar > 0 {
			f.Bar = sidebyside.RatioAtMost(bar)
		}
		return f
	}
	all := []sidebyside.Figure{
		figure("wall time", "ms", c.bar, func(s sidebyside.Sample) float64 { return milliseconds(s.Wall) }),
		figure("processor time", "ms", c.bar, func(s sidebyside.Sample) float64 { return milliseconds(s.CPU) }),
	}
	memory := figure("peak memory", "MiB", c.memory, func(s sidebyside.Sample) float64 { return float64(s.Peak) / (1 << 20) })
	if sidebyside.Median(memory.Peer) > 0 {
		all = append(all, memory)
	}
	return all
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/slipway-dev/slipway/bench/process"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const started quantity = "slipway dev until the manager reconciles, nothing changed"

// start measures the start of slipway dev in a project that it knows, on a cluster that runs and has a sample.
func start(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds("start", func(s series) error {
		begin := time.Now()
		d, err := b.dev(ctx, b.loop, "--samples")
		if err != nil {
			return err
		}
		e, err := d.reconciled(ctx)
		s.add(started, e.at.Sub(begin))
		s.addStages(d.seen, begin, e.at)
		return errors.Join(err, d.end())
	})
	if err != nil {
		return nil, err
	}
	const bar = 4000
	return append([]sidebyside.Figure{s.figure(started, sidebyside.AtMost(bar))}, s.stages()...), nil
}

const (
	idleFor     = time.Minute
	idleWindows = 3 // each is a mean over a minute already
)

// idle measures slipway dev itself, without the manager and the cluster, from a minute after the last save on.
func idle(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	if runtime.GOOS != "linux" {
		return nil, nil // only Linux has /proc
	}
	operator := project(filepath.Join(b.dir, "cronjob"))
	if err := os.CopyFS(string(operator), os.DirFS(filepath.Join(b.root, "examples", "cronjob"))); err != nil {
		return nil, err
	}
	share := sidebyside.Figure{Case: "idle in examples/cronjob for a minute", Unit: "% of a core", Bar: sidebyside.AtMost(1)}
	resident := sidebyside.Figure{Case: "resident memory after that", Unit: "MiB", Bar: sidebyside.AtMost(80)}
	err := b.withDev(ctx, operator, func(d *session) error {
		if err := operator.comment("api/v1/cronjob_types.go", "The last save."); err != nil {
			return err
		}
		if _, err := d.ready(ctx, "build"); err != nil {
			return err
		}
		if err := d.settle(ctx); err != nil {
			return err
		}
		if err := pause(ctx, idleFor); err != nil {
			return err
		}
		for range idleWindows {
			used, memory, err := watched(ctx, process.Group{d.cmd.Process.Pid})
			if err != nil {
				return err
			}
			share.Ours, resident.Ours = append(share.Ours, used), append(resident.Ours, memory)
		}
		return nil
	})
	return []sidebyside.Figure{share, resident}, err
}

// watched is the part of a core's time, in percent, that processes use for a minute, and their memory after it in MiB.
func watched(ctx context.Context, g process.Group) (used, memory float64, err error) {
	before, err := g.Usage()
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := pause(ctx, idleFor); err != nil {
		return 0, 0, err
	}
	after, err := g.Usage()
	const percent, mebibyte = 100, 1 << 20
	return percent * float64(after.CPU-before.CPU) / float64(time.Since(begin)), float64(after.Resident) / mebibyte, err
}

package main

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/process"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const (
	startWall quantity = "start"
	startCPU  quantity = "processor time of a start"
	stopWall  quantity = "stop"

	residentReady     quantity = "resident when ready"
	proportionalReady quantity = "proportional when ready"
	residentLater     quantity = "resident later"
	proportionalLater quantity = "proportional later"
)

// later is when memory is measured again: programs give back what their start took, on their own time.
const later = 10 * time.Second

// start measures one control plane at a time from nothing until a custom resource can be listed, its memory then and
// some time later, and how long it takes to stop it.
func start(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds(ctx, "start", func(ctx context.Context, s series) error {
		for _, c := range b.contenders() {
			if err := startOnce(ctx, c, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	const barStart, barMemory, barStop = 0.25, 1.0, 300
	return []sidebyside.Figure{
		s.figure(startWall, "ms", "start to ready and CRD established", sidebyside.RatioAtMost(barStart)),
		s.figure(startCPU, "ms", "processor time until then", sidebyside.Bar{}),
		s.figure(residentReady, "MiB", "resident memory then", sidebyside.RatioAtMost(barMemory)),
		s.figure(proportionalReady, "MiB", "proportional memory then", sidebyside.Bar{}),
		s.figure(residentLater, "MiB", "resident memory 10 s later", sidebyside.RatioAtMost(barMemory)),
		s.figure(proportionalLater, "MiB", "proportional memory 10 s later", sidebyside.Bar{}),
		s.figure(stopWall, "ms", "stop", sidebyside.AtMost(barStop)),
	}, nil
}

func startOnce(ctx context.Context, c contender, s series) (err error) {
	begin := time.Now()
	plane, err := c.ready(ctx)
	if err != nil {
		return err
	}
	s.add(c.side, startWall, milliseconds(time.Since(begin)))
	defer func() {
		stopped, e := timed(plane.Stop)
		s.add(c.side, stopWall, milliseconds(stopped))
		err = errors.Join(err, e)
	}()
	usage, err := plane.Processes.Usage()
	if err != nil {
		return err
	}
	s.add(c.side, startCPU, milliseconds(usage.CPU))
	s.memory(c.side, residentReady, proportionalReady, usage)
	usage, err = settled(ctx, plane)
	s.memory(c.side, residentLater, proportionalLater, usage)
	return err
}

// settled is a control plane's usage some time from now.
func settled(ctx context.Context, plane *controlplane.Plane) (process.Usage, error) {
	if err := pause(ctx, later); err != nil {
		return process.Usage{}, err
	}
	return plane.Processes.Usage()
}

func timed(f func() error) (time.Duration, error) {
	begin := time.Now()
	err := f()
	return time.Since(begin), err
}

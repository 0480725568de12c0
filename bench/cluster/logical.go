package main

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const (
	logicalWall   quantity = "logical cluster"
	logicalMemory quantity = "memory of a logical cluster"
)

// logical measures an isolated logical cluster beside a running cluster, controllers, scheduler and a node included.
// Each time the program is a new one: memory that a program has had once and does not need is no measure.
func logical(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds(ctx, "logical", func(ctx context.Context, s series) (err error) {
		plane, err := contender{ours, b.slipway}.ready(ctx)
		if err != nil {
			return err
		}
		defer func() {
			if stop := plane.Stop(); err == nil {
				err = stop
			}
		}()
		return logicalOnce(ctx, plane, s)
	})
	if err != nil {
		return nil, err
	}
	const barWall, barMemory = 600, 170
	return []sidebyside.Figure{
		s.figure(logicalWall, "ms", "logical cluster beside a running one", sidebyside.AtMost(barWall)),
		s.figure(logicalMemory, "MiB", "growth of resident memory by it after 10 s", sidebyside.AtMost(barMemory)),
	}, nil
}

func logicalOnce(ctx context.Context, plane *controlplane.Plane, s series) error {
	before, err := settled(ctx, plane)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := plane.Request(ctx, "addLogical", controlplane.AddLogical{Name: "beside"}, nil); err != nil {
		return err
	}
	s.add(ours, logicalWall, milliseconds(time.Since(begin)))
	after, err := settled(ctx, plane)
	if err != nil {
		return err
	}
	const mebibyte = 1 << 20
	s.add(ours, logicalMemory, float64(after.Resident-before.Resident)/mebibyte)
	if err := plane.Request(ctx, "removeLogical", controlplane.RemoveLogical{Name: "beside"}, nil); err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	return nil
}

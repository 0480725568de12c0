package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/bench/controlplane"
)

// lasting is the cluster that lives through the whole run.
type lasting struct {
	plane        *controlplane.Plane
	probe        probe
	samples      []sample
	placesBefore map[string]int // where its goroutines were once everything had been done a few times
}

func newLasting(ctx context.Context, starter controlplane.Starter) (*lasting, error) {
	plane, err := starter.Start(ctx)
	if err != nil {
		return nil, err
	}
	probe, err := newProbe(plane)
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return &lasting{plane: plane, probe: probe}, nil
}

// cycle uses the cluster, resets it and notes what the program uses then.
func (l *lasting) cycle(ctx context.Context, n int) (s sample, err error) {
	if err := use(ctx, l.plane); err != nil {
		return s, err
	}
	if err := l.useLogical(ctx); err != nil {
		return s, err
	}
	begin := time.Now()
	if err := l.plane.Request(ctx, "reset", nil, nil); err != nil {
		return s, err
	}
	took := time.Since(begin)
	if s, err = l.probe.settled(ctx); err != nil {
		return s, err
	}
	s.reset = float64(took) / float64(time.Millisecond)
	l.samples = append(l.samples, s)
	if n == warmUp {
		l.placesBefore, err = l.probe.places(ctx)
	}
	return s, err
}

func (l *lasting) useLogical(ctx context.Context) error {
	const name = "soak"
	var added controlplane.LogicalAdded
	if err := l.plane.Request(ctx, "addLogical", controlplane.AddLogical{Name: name}, &added); err != nil {
		return err
	}
	logical, err := controlplane.Open(added.Kubeconfig)
	if err != nil {
		return err
	}
	if err := useObjects(ctx, logical); err != nil {
		return fmt.Errorf("logical cluster: %w", err)
	}
	return l.plane.Request(ctx, "removeLogical", controlplane.RemoveLogical{Name: name}, nil)
}

// restarted is a durable cluster that is stopped and killed in turn.
type restarted struct {
	starter controlplane.Slipway
	samples []sample
}

// cycle starts the cluster, notes what the program uses, and ends it in the middle of its life.
func (r *restarted) cycle(ctx context.Context, n int) (s sample, err error) {
	plane, err := r.starter.Start(ctx)
	if err != nil {
		return s, err
	}
	probe, err := newProbe(plane)
	if err == nil {
		s, err = probe.settled(ctx)
	}
	if err == nil {
		r.samples = append(r.samples, s)
		err = useObjects(ctx, plane)
	}
	if n/restartEvery%2 == 0 {
		return s, errors.Join(err, plane.Kill())
	}
	return s, errors.Join(err, plane.Stop())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/process"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// bench is what experiments work with.
type bench struct {
	runs                       int
	slipway                    controlplane.Slipway
	envtest                    controlplane.Envtest
	slipwayAssets, stockAssets string // the folders of programs that envtest starts
}

// side is one of the two contenders.
type side string

const (
	ours side = "slipway-cluster"
	peer side = "envtest"
)

// contender is a side with how it is started.
type contender struct {
	side
	controlplane.Starter
}

func (b *bench) contenders() []contender {
	return []contender{{ours, b.slipway}, {peer, b.envtest}}
}

// quantity is what a sample is a sample of.
type quantity string

type key struct {
	side
	quantity
}

// series are the samples of an experiment.
type series map[key][]float64

func (s series) add(of side, what quantity, value float64) {
	s[key{of, what}] = append(s[key{of, what}], value)
}

// figure makes a line of the report of the samples of one quantity.
func (s series) figure(what quantity, unit, text string, bar sidebyside.Bar) sidebyside.Figure {
	return sidebyside.Figure{Case: text, Unit: unit, Ours: s[key{ours, what}], Peer: s[key{peer, what}], Bar: bar}
}

// memory adds a sample of each kind of memory.
func (s series) memory(of side, resident, proportional quantity, u process.Usage) {
	const mebibyte = 1 << 20
	s.add(of, resident, float64(u.Resident)/mebibyte)
	s.add(of, proportional, float64(u.Proportional)/mebibyte)
}

// rounds does something once to warm up and then as often as there are runs.
func (b *bench) rounds(ctx context.Context, name string, once func(context.Context, series) error) (series, error) {
	all := series{}
	for round := range b.runs + 1 {
		fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", name, round, b.runs)
		s := series{}
		if err := once(ctx, s); err != nil {
			return nil, err
		}
		if round == 0 {
			continue // the warm-up
		}
		for k, samples := range s {
			all[k] = append(all[k], samples...)
		}
	}
	return all, nil
}

// ready starts a control plane that has the custom resource.
func (c contender) ready(ctx context.Context) (*controlplane.Plane, error) {
	plane, err := c.Start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.side, err)
	}
	if err := plane.Establish(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.side, err), plane.Stop())
	}
	return plane, nil
}

// both starts the two sides and leaves them to f.
func (b *bench) both(ctx context.Context, f func(map[side]*controlplane.Plane) error) (err error) {
	planes := map[side]*controlplane.Plane{}
	defer func() {
		for _, plane := range planes {
			err = errors.Join(err, plane.Stop())
		}
	}()
	for _, c := range b.contenders() {
		if planes[c.side], err = c.ready(ctx); err != nil {
			delete(planes, c.side)
			return err
		}
	}
	return f(planes)
}

// pause waits, because the experiment is about what happens meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

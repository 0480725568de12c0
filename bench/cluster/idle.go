package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const (
	idleCPU     quantity = "idle"
	stopWatched quantity = "stop with watches"

	idleFor = 20 * time.Second
	watches = 50
)

// idle lets both control planes do nothing at the same time and measures what that costs, and then how long ours takes
// to stop while clients watch. Envtest's does not: its API server waits for the watches until envtest loses patience
// and kills it.
func idle(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds(ctx, "idle", func(ctx context.Context, s series) error {
		return b.both(ctx, func(planes map[side]*controlplane.Plane) error {
			if err := idleOnce(ctx, planes, s); err != nil {
				return err
			}
			plane := planes[ours]
			delete(planes, ours) // it is stopped here
			took, err := stopWithWatches(ctx, plane)
			s.add(ours, stopWatched, milliseconds(took))
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	const barIdle, barStop = 3, 300
	return []sidebyside.Figure{
		s.figure(idleCPU, "% of a core", "idle for 20 s", sidebyside.AtMost(barIdle)),
		s.figure(stopWatched, "ms", "stop with 50 open watches", sidebyside.AtMost(barStop)),
	}, nil
}

func idleOnce(ctx context.Context, planes map[side]*controlplane.Plane, s series) error {
	if err := pause(ctx, later); err != nil { // the starts are over by then
		return err
	}
	before := map[side]time.Duration{}
	for of, plane := range planes {
		usage, err := plane.Processes.Usage()
		if err != nil {
			return err
		}
		before[of] = usage.CPU
	}
	begin := time.Now()
	if err := pause(ctx, idleFor); err != nil {
		return err
	}
	for of, plane := range planes {
		usage, err := plane.Processes.Usage()
		if err != nil {
			return err
		}
		const percent = 100
		s.add(of, idleCPU, percent*float64(usage.CPU-before[of])/float64(time.Since(begin)))
	}
	return nil
}

// stopWithWatches stops a control plane while watches are open on resources of all sorts.
func stopWithWatches(ctx context.Context, plane *controlplane.Plane) (time.Duration, error) {
	if err := openWatches(ctx, plane.Config); err != nil {
		return 0, errors.Join(err, plane.Stop())
	}
	return timed(plane.Stop)
}

// openWatches opens watches, which end with the control plane.
func openWatches(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	resources := []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"}, {Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "secrets"},
		{Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "example.com", Version: "v1", Resource: "widgets"},
	}
	for n := range watches {
		watch, err := client.Resource(resources[n%len(resources)]).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("open watch %d: %w", n, err)
		}
		go func() {
			for range watch.ResultChan() { // until the control plane ends
			}
		}()
	}
	return nil
}

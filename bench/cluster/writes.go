package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/sidebyside"
	"github.com/slipway-dev/slipway/bench/widget"
)

const (
	writesAlone    quantity = "one at a time"
	writesTogether quantity = "several at a time"
	writesCPU      quantity = "processor time of a write"

	objects  = 10_000
	portion  = 500 // the sides take turns after so many
	together = 10
)

// writes creates objects of a custom resource with one client, one after the other and several at a time. Both control
// planes run and take turns, so that whatever disturbs one disturbs the other.
func writes(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds(ctx, "writes", func(ctx context.Context, s series) error {
		return b.both(ctx, func(planes map[side]*controlplane.Plane) error { return writeOnce(ctx, planes, s) })
	})
	if err != nil {
		return nil, err
	}
	const bar = 1
	return []sidebyside.Figure{
		s.figure(writesAlone, "writes/s", "10,000 objects created, 1 at a time", sidebyside.RatioAtLeast(bar)),
		s.figure(writesTogether, "writes/s", "10,000 objects created, 10 at a time", sidebyside.RatioAtLeast(bar)),
		s.figure(writesCPU, "µs", "processor time of a write", sidebyside.Bar{}),
	}, nil
}

func writeOnce(ctx context.Context, planes map[side]*controlplane.Plane, s series) error {
	writers := map[side]*writer{}
	for of, plane := range planes {
		w, err := newWriter(plane.Config)
		if err != nil {
			return err
		}
		if err := w.create(ctx, portion, 1); err != nil { // warms up
			return err
		}
		writers[of] = w
	}
	before, err := processorTimes(planes)
	if err != nil {
		return err
	}
	for concurrency, what := range map[int]quantity{1: writesAlone, together: writesTogether} {
		if err := takeTurns(ctx, writers, concurrency, what, s); err != nil {
			return err
		}
	}
	after, err := processorTimes(planes)
	for of := range planes {
		s.add(of, writesCPU, float64((after[of]-before[of]).Microseconds())/(2*objects))
	}
	return err
}

func takeTurns(ctx context.Context, writers map[side]*writer, concurrency int, what quantity, s series) error {
	took := map[side]time.Duration{}
	for range objects / portion {
		for of, w := range writers {
			d, err := timed(func() error { return w.create(ctx, portion, concurrency) })
			if err != nil {
				return err
			}
			took[of] += d
		}
	}
	for of, d := range took {
		s.add(of, what, objects/d.Seconds())
	}
	return nil
}

func processorTimes(planes map[side]*controlplane.Plane) (map[side]time.Duration, error) {
	times := map[side]time.Duration{}
	for of, plane := range planes {
		usage, err := plane.Processes.Usage()
		if err != nil {
			return nil, err
		}
		times[of] = usage.CPU
	}
	return times, nil
}

// writer creates widgets, each with a name of its own.
type writer struct {
	client dynamic.ResourceInterface
	last   int
}

func newWriter(config *rest.Config) (*writer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &writer{client: client.Resource(widget.Resource()).Namespace("default")}, nil
}

// create makes n widgets.
func (w *writer) create(ctx context.Context, n, concurrency int) error {
	group, ctx := errgroup.WithContext(ctx)
	for first := range concurrency {
		group.Go(func() error {
			for i := first; i < n; i += concurrency {
				if err := w.createOne(ctx, w.last+i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	w.last += n
	return err
}

func (w *writer) createOne(ctx context.Context, number int) error {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(number)}}}
	object.SetGroupVersionKind(widget.GroupVersionKind)
	object.SetName(fmt.Sprintf("widget-%d", number))
	_, err := w.client.Create(ctx, object, metav1.CreateOptions{})
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const (
	markerEffective quantity = "save of a validation marker until the API server validates by it"
	sampleApplied   quantity = "save of a sample until it is applied"
)

// The resource of the project.
var (
	frigates    = schema.GroupVersionResource{Group: "ship.example.com", Version: "v1", Resource: "frigates"}
	frigateKind = frigates.GroupVersion().WithKind("Frigate")
)

// objects are the project's samples in the cluster.
func (b *bench) objects() (dynamic.ResourceInterface, error) {
	config, err := b.client()
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Resource(frigates).Namespace(metav1.NamespaceDefault), nil
}

// marker measures a save of a greater limit of a field's length until an object of that length is accepted.
func marker(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	var s series
	err := b.withDev(ctx, b.loop, func(d *session) error {
		client, err := b.objects()
		if err != nil {
			return err
		}
		length := 10
		s, err = b.rounds("marker", func(s series) error {
			length++
			return b.markerOnce(ctx, d, client, length, s)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	const bar = 300
	return append([]sidebyside.Figure{s.figure(markerEffective, sidebyside.AtMost(bar))}, s.stages()...), nil
}

var errAccepted = errors.New("an object was accepted before the marker was saved")

func (b *bench) markerOnce(ctx context.Context, d *session, client dynamic.ResourceInterface, length int, s series) error {
	if err := try(ctx, client, length); !apierrors.IsInvalid(err) {
		return fmt.Errorf("%w: %w", errAccepted, err)
	}
	begin := time.Now()
	if err := b.loop.limit(length); err != nil {
		return err
	}
	for {
		err := try(ctx, client, length)
		if err == nil {
			break
		}
		if !apierrors.IsInvalid(err) {
			return err
		}
		const pace = 5 * time.Millisecond // each costs the API server about one millisecond
		if err := pause(ctx, pace); err != nil {
			return err
		}
	}
	end := time.Now()
	s.add(markerEffective, end.Sub(begin))
	if _, err := d.ready(ctx, "build"); err != nil { // install is beside it
		return err
	}
	s.addStages(d.seen, begin, end)
	return d.settle(ctx)
}

// try has the API server validate an object of a length, and keeps nothing.
func try(ctx context.Context, client dynamic.ResourceInterface, length int) error {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"foo": strings.Repeat("x", length)}}}
	object.SetGroupVersionKind(frigateKind)
	object.SetName("probe")
	_, err := client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// sample measures a save of a sample until a watch sees its value.
func sample(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	var s series
	err := b.withDev(ctx, b.loop, func(*session) error {
		client, err := b.objects()
		if err != nil {
			return err
		}
		seen, err := client.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		defer seen.Stop()
		number := 0
		s, err = b.rounds("sample", func(s series) error {
			number++
			return b.sampleOnce(ctx, seen, number, s)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	const bar = 200
	return []sidebyside.Figure{s.figure(sampleApplied, sidebyside.AtMost(bar))}, nil
}

func (b *bench) sampleOnce(ctx context.Context, seen watch.Interface, number int, s series) error {
	begin := time.Now()
	value, err := b.loop.sample(number)
	if err != nil {
		return err
	}
	if err := await(ctx, seen, value); err != nil {
		return err
	}
	s.add(sampleApplied, time.Since(begin))
	return pause(ctx, time.Second)
}

var errWatchEnded = errors.New("the watch has ended")

// await returns once an object has a value.
func await(ctx context.Context, seen watch.Interface, value string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		select {
		case e, ok := <-seen.ResultChan():
			if !ok {
				return errWatchEnded
			}
			if o, is := e.Object.(*unstructured.Unstructured); is {
				if foo, _, _ := unstructured.NestedString(o.Object, "spec", "foo"); foo == value {
					return nil
				}
			}
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", value, context.Cause(ctx))
		}
	}
}

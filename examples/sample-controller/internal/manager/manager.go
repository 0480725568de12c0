// Package manager runs the controller as the one that works among its replicas: with clients, informers, a recorder of
// events and a lease.
package manager

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"example.com/sample-controller/internal/controller"
	"example.com/sample-controller/pkg/generated/clientset/versioned"
	"example.com/sample-controller/pkg/generated/clientset/versioned/scheme"
	"example.com/sample-controller/pkg/generated/informers/externalversions"
)

// Name is the name of the lease, and that under which events are reported.
const Name = "sample-controller"

// resync is how often each Foo is looked at although nothing has changed. It brings back what was given up after too
// many failures.
const resync = 10 * time.Minute

// Options are how a manager runs.
type Options struct {
	// LeaseNamespace is where replicas agree on the one that works.
	LeaseNamespace string

	// Identity is the replica's name among others.
	Identity string

	// WatchNamespace limits the controller to one namespace.
	WatchNamespace string

	// Image is what the pods of Deployments run.
	Image string

	// Workers is how many Foos are worked on at the same time.
	Workers int
}

// Run waits until it leads, and works until ctx ends or the lease is lost, which is an error. It gives the lease back
// when the work has ended, so that another replica need not wait until it expires.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of Kubernetes' kinds: %w", err)
	}
	foos, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of Foos: %w", err)
	}
	return lead(ctx, kube, o, func(ctx context.Context) error {
		return work(ctx, kube, foos, o)
	})
}

// work runs the controller. The informers are made now, not before this replica leads: one that waits has no need of
// them.
func work(ctx context.Context, kube kubernetes.Interface, foos versioned.Interface, o Options) error {
	// Events are recorded until the work has ended: passes go on for a moment when ctx ends.
	recording, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: kube.EventsV1()})
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(recording); err != nil {
		return fmt.Errorf("record events: %w", err)
	}
	c, err := controller.New(controller.Options{
		Kube:          kube,
		Foos:          foos,
		KubeInformers: informers.NewSharedInformerFactoryWithOptions(kube, resync, informers.WithNamespace(o.WatchNamespace)),
		FooInformers:  externalversions.NewSharedInformerFactoryWithOptions(foos, resync, externalversions.WithNamespace(o.WatchNamespace)),
		Recorder:      broadcaster.NewRecorder(scheme.Scheme, Name),
		Clock:         clock.RealClock{},
		Image:         o.Image,
		Workers:       o.Workers,
	})
	if err != nil {
		return err
	}
	c.Run(ctx)
	return nil
}

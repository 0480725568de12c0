package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// leaseName is the one that the chart's role permits.
const leaseName = "cert-manager-controller"

// lead waits until it leads and then keeps Certificates until ctx ends or the lead is lost.
func lead(ctx context.Context, o options, watchdog *leaderelection.HealthzAdaptor) error {
	factory, err := contexts(ctx, o)
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return fmt.Errorf("make clients: %w", err)
	}
	lock, err := lease(o, shared.Client)
	if err != nil {
		return err
	}
	var failure error
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, WatchDog: watchdog, ReleaseOnCancel: true,
		LeaseDuration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 15 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				if failure = issue(ctx, factory, shared); failure != nil {
					fmt.Fprintln(os.Stderr, "controller:", failure)
					os.Exit(1) // the elector would hold the lead on
				}
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("make the elector: %w", err)
	}
	elector.Run(ctx)
	if ctx.Err() == nil {
		return errors.New("the lead is lost")
	}
	return nil
}

func lease(o options, client kubernetes.Interface) (*resourcelock.LeaseLock, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find the pod's name: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: o.leaseNamespace, Name: leaseName},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}, nil
}

// issue runs all controllers until ctx ends or one of them fails.
func issue(ctx context.Context, factory *controller.ContextFactory, shared *controller.Context) error {
	controllers, ctx := errgroup.WithContext(ctx)
	known := controller.Known()
	for _, name := range issuingControllers {
		c, err := known[name](factory)
		if err != nil {
			return fmt.Errorf("make the controller %s: %w", name, err)
		}
		controllers.Go(func() error { return c.Run(workers, ctx) })
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	return controllers.Wait()
}

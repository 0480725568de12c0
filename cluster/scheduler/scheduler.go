// Package scheduler runs the stock scheduler with its default profile.
//
// It is k8s.io/kubernetes/pkg/scheduler without the program around it (upstream:
// cmd/kube-scheduler/app/server.go): no leader election, no server of its own.
package scheduler

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"

	"github.com/slipway-dev/slipway/cluster/informed"
)

// Run schedules pods until ctx ends. started is called once it does, with a view of
// what the scheduler knows; an error says that it could not be set up.
func Run(ctx context.Context, client *rest.Config, started func(informed.View)) error {
	config := rest.AddUserAgent(rest.CopyConfig(client), "kube-scheduler")
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make the scheduler's dynamic client: %w", err)
	}
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make the scheduler's client: %w", err)
	}

	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, typed)
	broadcaster.StartRecordingToSink(ctx.Done())
	defer broadcaster.Shutdown()

	informers := scheduler.NewInformerFactory(typed, 0, nil)
	dynInformers := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dyn, 0, corev1.NamespaceAll, nil)
	s, err := scheduler.New(ctx, typed, informers, dynInformers, broadcaster.NewRecorder, scheduler.WithKubeConfig(config))
	if err != nil {
		return fmt.Errorf("set up the scheduler: %w", err)
	}

	informers.Start(ctx.Done())
	dynInformers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	dynInformers.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("fill the scheduler's caches: %w", err)
	}
	started(func() informed.Stores { return informed.Typed(informers) })
	s.Run(ctx)
	return nil
}

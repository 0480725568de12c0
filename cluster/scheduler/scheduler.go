// Package scheduler runs the stock scheduler with its default profile, in which volumes are bound as soon as they are
// there. A cluster that may have simulated and real nodes side by side adds one plugin: it places pods by their images
// and by what real nodes refuse.
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
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/slipway-dev/slipway/cluster/informed"
)

// Run schedules pods until ctx ends, by their images unless these are nil. started is called once it does, with a view
// of what the scheduler knows; an error says that it could not be set up.
func Run(ctx context.Context, client *rest.Config, images Images, started func(informed.View)) error {
	own := rest.AddUserAgent(rest.CopyConfig(client), "kube-scheduler")
	dyn, err := dynamic.NewForConfig(own)
	if err != nil {
		return fmt.Errorf("make the scheduler's dynamic client: %w", err)
	}
	own = rest.CopyConfig(own)
	own.ContentType = "application/vnd.kubernetes.protobuf"
	typed, err := kubernetes.NewForConfig(own)
	if err != nil {
		return fmt.Errorf("make the scheduler's client: %w", err)
	}

	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, typed)
	broadcaster.StartRecordingToSink(ctx.Done())
	defer broadcaster.Shutdown()

	informers := scheduler.NewInformerFactory(typed, 0, nil)
	dynInformers := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dyn, 0, corev1.NamespaceAll, nil)
	profiles, registry, err := profile(images)
	if err != nil {
		return fmt.Errorf("set up the scheduler: %w", err)
	}
	s, err := scheduler.New(ctx, typed, informers, dynInformers, broadcaster.NewRecorder, scheduler.WithKubeConfig(own),
		scheduler.WithProfiles(profiles...), scheduler.WithFrameworkOutOfTreeRegistry(registry))
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

// profile is the default one, which binds volumes fast, and with the plugin for images if that is of use.
func profile(images Images) ([]config.KubeSchedulerProfile, frameworkruntime.Registry, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, nil, err
	}
	registry := frameworkruntime.Registry{byClaims: newVolumeBinding}
	if images != nil {
		registry[byImage] = newPlacer(images)
	}
	for i := range defaults.Profiles {
		p := &defaults.Profiles[i]
		bindFast(p)
		if images != nil {
			enabled := config.Plugin{Name: byImage}
			p.Plugins.PreFilter.Enabled = append(p.Plugins.PreFilter.Enabled, enabled)
			p.Plugins.Filter.Enabled = append(p.Plugins.Filter.Enabled, enabled)
		}
	}
	return defaults.Profiles, registry, nil
}

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	resourcemetrics "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"
)

// Upstream: cmd/kube-controller-manager/app/autoscaling.go; the other values are its defaults.
const (
	scalePeriod            = 2 * time.Second // upstream: 15 seconds, to spare a large cluster
	downscaleStabilization = 5 * time.Minute
	scaleTolerance         = 0.1
	cpuInitialization      = 5 * time.Minute
	initialReadiness       = 30 * time.Second
)

// adapterRefresh is how often it is looked for other versions of the API for custom metrics.
const adapterRefresh = 5 * time.Second

// newHorizontalPodAutoscaler scales by the figures of package metricsapi. For custom and external metrics the user may
// install an adapter.
func newHorizontalPodAutoscaler(ctx context.Context, d *Deps) (Loop, error) {
	const name = "horizontal-pod-autoscaler"
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	config := d.config(name)
	scales, err := scale.NewForConfig(config, d.Mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("make the scale client: %w", err)
	}
	resources, err := resourcemetrics.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the client of resource metrics: %w", err)
	}
	external, err := external_metrics.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the client of external metrics: %w", err)
	}
	available := custom_metrics.NewAvailableAPIsGetter(client.Discovery())
	measured := metrics.NewRESTMetricsClient(resources, custom_metrics.NewForConfig(config, d.Mapper, available), external)
	c := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), scales, client.AutoscalingV2(), d.Mapper, measured,
		d.Informers.Autoscaling().V2().HorizontalPodAutoscalers(), d.Informers.Core().V1().Pods(),
		scalePeriod, downscaleStabilization, scaleTolerance, cpuInitialization, initialReadiness)
	return together(
		func(ctx context.Context) {
			custom_metrics.PeriodicallyInvalidate(available, adapterRefresh, ctx.Done())
		},
		func(ctx context.Context) { c.Run(ctx, workers) },
	), nil
}

package controllers

import (
	"context"
	"time"

	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	quota "k8s.io/kubernetes/pkg/quota/v1/install"
)

// Upstream: cmd/kube-controller-manager/app/policy.go and core.go.

const (
	disruptionWorkers = 1
	quotaResync       = 5 * time.Minute
	quotaDiscovery    = 30 * time.Second // until quotas notice a new CRD
)

func newDisruption(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("disruption-controller")
	if err != nil {
		return nil, err
	}
	resolver := scale.NewDiscoveryScaleKindResolver(client.Discovery())
	scales, err := scale.NewForConfig(d.config("disruption-controller"), d.Mapper, dynamic.LegacyAPIPathResolverFunc, resolver)
	if err != nil {
		return nil, err
	}
	core, apps := d.Informers.Core().V1(), d.Informers.Apps().V1()
	c := disruption.NewDisruptionController(ctx, core.Pods(), d.Informers.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, d.Mapper, scales, client.Discovery())
	return func(ctx context.Context) { c.Run(ctx, disruptionWorkers) }, nil
}

func newResourceQuota(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("resourcequota-controller")
	if err != nil {
		return nil, err
	}
	configuration, err := quota.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(d.Informers.ForResource), d.Informers)
	if err != nil {
		return nil, err
	}
	discover := client.Discovery().ServerPreferredNamespacedResources
	c, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               client.CoreV1(),
		ResourceQuotaInformer:     d.Informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(quotaResync),
		InformerFactory:           d.Generic,
		ReplenishmentResyncPeriod: resyncPeriod,
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      configuration.IgnoredResources,
		InformersStarted:          d.Started,
		Registry:                  generic.NewRegistry(configuration.Evaluators()),
		UpdateFilter:              quota.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	return together(
		func(ctx context.Context) { c.Run(ctx, workers) },
		func(ctx context.Context) { c.Sync(ctx, discover, quotaDiscovery) },
	), nil
}

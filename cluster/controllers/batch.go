package controllers

import (
	"context"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	scheduling "k8s.io/client-go/informers/scheduling/v1beta1"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/features"
)

// Upstream: cmd/kube-controller-manager/app/batch.go and, for the time to live, core.go.

func newJob(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("job-controller")
	if err != nil {
		return nil, err
	}
	var workloads scheduling.WorkloadInformer
	var groups scheduling.PodGroupInformer
	if utilfeature.DefaultFeatureGate.Enabled(features.WorkloadWithJob) {
		workloads, groups = d.Informers.Scheduling().V1beta1().Workloads(), d.Informers.Scheduling().V1beta1().PodGroups()
	}
	c, err := job.NewController(ctx, client, d.Informers.Core().V1().Pods(), d.Informers.Batch().V1().Jobs(), workloads, groups)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func newCronJob(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("cronjob-controller")
	if err != nil {
		return nil, err
	}
	c, err := cronjob.NewControllerV2(ctx, d.Informers.Batch().V1().Jobs(), d.Informers.Batch().V1().CronJobs(), client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func newTTLAfterFinished(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("ttl-after-finished-controller")
	if err != nil {
		return nil, err
	}
	c := ttlafterfinished.New(ctx, d.Informers.Batch().V1().Jobs(), client)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

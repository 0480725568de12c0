package controllers

import (
	"context"
	"time"

	appsinformers "k8s.io/client-go/informers/apps/v1"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// Upstream: cmd/kube-controller-manager/app/apps.go.

const (
	workers       = 5 // the upstream default of most controllers
	daemonWorkers = 2

	daemonBackoff    = time.Second
	daemonBackoffMax = 15 * time.Minute
)

func newDeployment(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("deployment-controller")
	if err != nil {
		return nil, err
	}
	apps := d.Informers.Apps().V1()
	c, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), d.Informers.Core().V1().Pods(), client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func newReplicaSet(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("replicaset-controller")
	if err != nil {
		return nil, err
	}
	c := replicaset.NewReplicaSetController(ctx, d.Informers.Apps().V1().ReplicaSets(), d.Informers.Core().V1().Pods(), client, replicaset.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func newReplicationController(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("replication-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c := replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), client, replication.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func newStatefulSet(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("statefulset-controller")
	if err != nil {
		return nil, err
	}
	core, apps := d.Informers.Core().V1(), d.Informers.Apps().V1()
	c := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), client)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func newDaemonSet(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("daemon-set-controller")
	if err != nil {
		return nil, err
	}
	core, apps := d.Informers.Core().V1(), d.Informers.Apps().V1()
	backoff := flowcontrol.NewBackOff(daemonBackoff, daemonBackoffMax)
	var sets appsinformers.DaemonSetInformer = apps.DaemonSets()
	if d.Volumes != nil { // there may be real nodes
		sets = daemonSets{sets, core.Nodes().Lister()}
	}
	c, err := daemon.NewDaemonSetsController(ctx, sets, apps.ControllerRevisions(), core.Pods(), core.Nodes(), client, backoff)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, daemonWorkers) }, nil
}

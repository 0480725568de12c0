package controllers

import (
	"context"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/volume/ephemeral"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
)

// Upstream: cmd/kube-controller-manager/app/core.go.

// volumeSync is how often the binder looks at everything again. A claim that it meets before
// the volume that fits waits that long: upstream's 15 seconds are long for a test.
const volumeSync = time.Second

// newVolumeBinder binds claims and volumes to each other. It has no volume plug-ins, which
// would bring half of the kubelet with them: volumes are made by [provisioner] here.
func newVolumeBinder(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("persistent-volume-binder")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient:                client,
		SyncPeriod:                volumeSync,
		VolumeInformer:            core.PersistentVolumes(),
		ClaimInformer:             core.PersistentVolumeClaims(),
		ClassInformer:             d.Informers.Storage().V1().StorageClasses(),
		PodInformer:               core.Pods(),
		NodeInformer:              core.Nodes(),
		EnableDynamicProvisioning: true,
	})
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

// newVolumeProtection keeps a PersistentVolume while it is bound.
func newVolumeProtection(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("pv-protection-controller")
	if err != nil {
		return nil, err
	}
	c, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), d.Informers.Core().V1().PersistentVolumes(), client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// newClaimProtection keeps a PersistentVolumeClaim while a pod uses it.
func newClaimProtection(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("pvc-protection-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// newEphemeralVolume makes the claims of pods' ephemeral volumes.
func newEphemeralVolume(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("ephemeral-volume-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c, err := ephemeral.NewController(ctx, client, core.Pods(), core.PersistentVolumeClaims())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

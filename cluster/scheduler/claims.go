package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"

	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

// byClaims is the name of the plugin that stands in for the stock one for volumes.
const byClaims = "SlipwayVolumeBinding"

// volumeBinding is the stock plugin, but for how long it waits.
type volumeBinding struct{ *volumebinding.VolumeBinding }

// Name is the plugin's.
func (volumeBinding) Name() string { return byClaims }

func newVolumeBinding(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	stock, err := volumebinding.New(ctx, args, handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	p, ok := stock.(*volumebinding.VolumeBinding)
	if !ok {
		return nil, fmt.Errorf("the stock plugin for volumes is a %T", stock)
	}
	core := handle.SharedInformerFactory().Core().V1()
	p.Binder = binder{
		SchedulerVolumeBinder: p.Binder,
		claims:                claimsFrom(core.PersistentVolumeClaims().Lister(), core.PersistentVolumes().Lister()),
		classes:               handle.SharedInformerFactory().Storage().V1().StorageClasses().Lister(),
		report: func(pod *corev1.Pod, why string) {
			handle.EventRecorder().Eventf(pod, nil, corev1.EventTypeWarning, waitingForVolume, "Scheduling", "%s", why)
		},
	}
	return volumeBinding{p}, nil
}

// binder is the stock binder, which looks once a second whether the claims of a pod are bound. The cluster's own
// volumes are there within milliseconds: a StatefulSet would wait a second for each pod.
//
// A pod whose claim waits for another provisioner has no Event of the stock binder for ten minutes. It gets one here.
type binder struct {
	volumebinding.SchedulerVolumeBinder
	claims  preflight.Claims
	classes storagelisters.StorageClassLister
	report  func(pod *corev1.Pod, why string)
}

const (
	// bindPoll lies between two looks at claims that are being bound.
	bindPoll = 10 * time.Millisecond
	// foreignPatience is how long a provisioner other than the cluster's own may take before an Event names it.
	foreignPatience = time.Second

	waitingForVolume = "WaitingForVolume" // the Event's reason
)

// BindPodVolumes has the claims of a pod bound, and returns once they are.
func (b binder) BindPodVolumes(ctx context.Context, pod *corev1.Pod, volumes *volumebinding.PodVolumes) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bound := make(chan error, 1)
	go func() { bound <- b.SchedulerVolumeBinder.BindPodVolumes(ctx, pod, volumes) }()
	tick := time.NewTicker(bindPoll)
	defer tick.Stop()
	late := time.NewTimer(foreignPatience)
	defer late.Stop()
	for {
		select {
		case err := <-bound:
			return err
		case <-late.C:
			if why := b.foreign(pod); why != "" {
				b.report(pod, why)
			}
		case <-tick.C:
			if b.allBound(pod) {
				cancel()
				<-bound //nolint:errcheck // it only waited
				return nil
			}
		}
	}
}

// allBound says whether all claims of a pod are bound to volumes of the cluster's own, which every node reaches.
func (b binder) allBound(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		name := claimOf(pod, v)
		if name == "" {
			return false
		}
		claim, volume := b.claims(pod.Namespace, name)
		return claim == nil || claim.Status.Phase != corev1.ClaimBound || volume == nil || !ownVolume(volume)
	})
}

// foreign says which claim of a pod waits for a provisioner other than the cluster's own; it is empty if none does.
func (b binder) foreign(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		claim, _ := b.claims(pod.Namespace, claimOf(pod, v))
		if claim == nil || claim.Status.Phase == corev1.ClaimBound {
			continue
		}
		class, err := b.classes.Get(storagevolume.GetPersistentVolumeClaimClass(claim))
		if err == nil && class.Provisioner != preflight.VolumeDriver {
			return fmt.Sprintf("claim %s waits for a volume of the class %s: its provisioner %s has created none yet. "+
				"If that does not run in this cluster, use a class of the provisioner %s (kubectl get storageclass)",
				claim.Name, class.Name, class.Provisioner, preflight.VolumeDriver)
		}
	}
	return ""
}

func ownVolume(v *corev1.PersistentVolume) bool {
	return v.Spec.CSI != nil && v.Spec.CSI.Driver == preflight.VolumeDriver && v.Spec.NodeAffinity == nil
}

// claimOf is the claim of a pod's volume; empty if it has none.
func claimOf(pod *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// claimsFrom looks claims up in what the scheduler follows.
func claimsFrom(claims corelisters.PersistentVolumeClaimLister, volumes corelisters.PersistentVolumeLister) preflight.Claims {
	return func(namespace, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
		claim, err := claims.PersistentVolumeClaims(namespace).Get(name)
		if err != nil {
			return nil, nil // it may come
		}
		volume, err := volumes.Get(claim.Spec.VolumeName)
		if err != nil {
			return claim, nil
		}
		return claim, volume
	}
}

// bindFast puts the plugin into the place of the stock one, with its arguments.
func bindFast(p *config.KubeSchedulerProfile) {
	for i := range p.Plugins.MultiPoint.Enabled {
		if e := &p.Plugins.MultiPoint.Enabled[i]; e.Name == volumebinding.Name {
			e.Name = byClaims
		}
	}
	for i := range p.PluginConfig {
		if p.PluginConfig[i].Name == volumebinding.Name {
			p.PluginConfig[i].Name = byClaims
		}
	}
}

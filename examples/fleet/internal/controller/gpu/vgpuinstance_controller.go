// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

// Package gpu registers the VGPUInstances of all members: each learns in which member of the fleet it is. Every member
// has a controller of its own, with its own queue and workers, so that one member cannot hold up another.
package gpu

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
	mcsource "sigs.k8s.io/multicluster-runtime/pkg/source"

	gpuv1beta1 "example.com/fleet/api/gpu/v1beta1"
)

// RegionLabel is the label of a Cluster that says where it is.
const RegionLabel = "topology.kubernetes.io/region"

// recheck is when an instance that another member has is looked at again.
const recheck = time.Minute

// reconcileTimeout bounds a pass. The manager's own does not count here: these controllers are not the manager's.
const reconcileTimeout = 30 * time.Second

// VGPUInstanceReconciler registers VGPUInstances.
type VGPUInstanceReconciler struct {
	Manager mcmanager.Manager

	// Labels returns those of a member.
	Labels func(multicluster.ClusterName) labels.Set
}

// SetupWithManager has the manager call Engage for each member.
func (r *VGPUInstanceReconciler) SetupWithManager() error { return r.Manager.Add(r) }

// Start keeps the manager content. The work is done from Engage on.
func (r *VGPUInstanceReconciler) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Engage runs a controller for a member until ctx ends. All share a name, and so their metrics: a name for each would
// leave series behind for each member that ever was.
func (r *VGPUInstanceReconciler) Engage(ctx context.Context, name multicluster.ClusterName, cl cluster.Cluster) error {
	c, err := mccontroller.NewUnmanaged("gpu-vgpuinstance", r.Manager, mccontroller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: 2,
		ReconciliationTimeout:   reconcileTimeout,
		SkipNameValidation:      new(true),
		Logger:                  r.Manager.GetLogger().WithValues("member", name),
	})
	if err != nil {
		return fmt.Errorf("make the controller: %w", err)
	}
	kind := mcsource.Kind[client.Object](&gpuv1beta1.VGPUInstance{}, mchandler.EnqueueRequestForObject, predicate.GenerationChangedPredicate{})
	if err := c.MultiClusterWatch(kind); err != nil {
		return fmt.Errorf("watch the VGPUInstances: %w", err)
	}
	if err := c.Engage(ctx, name, cl); err != nil {
		return fmt.Errorf("engage the controller: %w", err)
	}
	go func() {
		if err := c.Start(ctx); err != nil && ctx.Err() == nil {
			c.GetLogger().Error(err, "The controller of a member failed")
		}
	}()
	return nil
}

// Reconcile registers one instance of one member.
func (r *VGPUInstanceReconciler) Reconcile(ctx context.Context, req mcreconcile.Request) (ctrl.Result, error) {
	cl, err := r.Manager.GetCluster(ctx, req.ClusterName)
	if err != nil {
		return ctrl.Result{}, nil //nolint:nilerr // the member has gone, and comes with all its objects if it comes again
	}
	var instance gpuv1beta1.VGPUInstance
	if err := cl.GetClient().Get(ctx, req.NamespacedName, &instance); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if instance.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	if r.taken(ctx, &instance, req.ClusterName) {
		return ctrl.Result{RequeueAfter: recheck}, nil
	}
	return ctrl.Result{}, r.register(ctx, cl.GetClient(), &instance, req.ClusterName)
}

// taken reports whether another engaged member has registered the instance. Two Clusters may have kubeconfigs of the
// same cluster; without this they would write over each other for ever.
func (r *VGPUInstanceReconciler) taken(ctx context.Context, instance *gpuv1beta1.VGPUInstance, name multicluster.ClusterName) bool {
	other := multicluster.ClusterName(instance.Status.Cluster)
	if other == "" || other == name {
		return false
	}
	_, err := r.Manager.GetCluster(ctx, other)
	return err == nil
}

// register writes the status, if it differs.
func (r *VGPUInstanceReconciler) register(ctx context.Context, cl client.Client, instance *gpuv1beta1.VGPUInstance, name multicluster.ClusterName) error {
	before := instance.DeepCopy()
	instance.Status.Cluster, instance.Status.Region = name.String(), r.Labels(name)[RegionLabel]
	meta.SetStatusCondition(&instance.Status.Conditions, metav1.Condition{
		Type: gpuv1beta1.ConditionRegistered, Status: metav1.ConditionTrue, ObservedGeneration: instance.Generation,
		Reason: gpuv1beta1.ReasonSeen, Message: "The fleet knows this instance.",
	})
	if equality.Semantic.DeepEqual(before.Status, instance.Status) {
		return nil
	}
	if err := cl.Status().Patch(ctx, instance, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

// Package controller runs RedisClusters. rediscluster_controller.go is the way through one pass, pods.go knows what an
// instance looks like, plan.go decides what is started and stopped, and status.go what is reported.
package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	redisv1 "example.com/rediscluster/api/v1"
)

// RedisClusterReconciler runs the instances of RedisClusters.
type RedisClusterReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Recorder records events about RedisClusters. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// Each verb here is used, and none that is used is missing: a test counts them at the API server. Reads come from the
// cache, which lists and watches and never gets. Each event is about another pod, so that none is patched to say that
// it came again.

// +kubebuilder:rbac:groups=bytewang123-redis.wzj.kubebuilder.io,resources=redisclusters,verbs=list;watch
// +kubebuilder:rbac:groups=bytewang123-redis.wzj.kubebuilder.io,resources=redisclusters/status,verbs=patch
// +kubebuilder:rbac:groups=bytewang123-redis.wzj.kubebuilder.io,resources=redisclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile brings one RedisCluster up to date: its pods, and its status. It needs no finalizer, since its pods are in
// the cluster and go by garbage collection.
func (r *RedisClusterReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cluster redisv1.RedisCluster
	if err := r.Get(ctx, req.NamespacedName, &cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if cluster.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	seen, err := r.observe(ctx, &cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	addr, err := cluster.Spec.AddrPort()
	if err != nil {
		return ctrl.Result{}, r.report(ctx, &cluster, seen, badAddr(err)) // a new spec brings the next pass
	}
	p := newPlan(&cluster, addr, seen)
	err = r.carryOut(ctx, &cluster, p)
	return ctrl.Result{}, errors.Join(err, r.report(ctx, &cluster, seen, available(&cluster, seen, p, refusal(err))))
}

// observation is what one pass finds.
type observation struct {
	pods  []corev1.Pod // the instances
	taken []string     // names of instances which pods of something else have
}

// observe looks for the pods that a RedisCluster controls, and for others in their way.
func (r *RedisClusterReconciler) observe(ctx context.Context, cluster *redisv1.RedisCluster) (seen observation, err error) {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(cluster.Namespace), client.MatchingFields{ownerIndex: string(cluster.UID)}); err != nil {
		return seen, fmt.Errorf("list the pods: %w", err)
	}
	seen.pods = pods.Items
	for i := range int(cluster.Spec.Size) {
		var pod corev1.Pod
		err := r.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: podName(cluster.Name, i)}, &pod)
		if client.IgnoreNotFound(err) != nil {
			return seen, fmt.Errorf("look for a pod: %w", err)
		}
		if err == nil && !metav1.IsControlledBy(&pod, cluster) {
			seen.taken = append(seen.taken, pod.Name)
		}
	}
	return seen, nil
}

// carryOut stops and starts pods. One that fails does not keep the others from it.
func (r *RedisClusterReconciler) carryOut(ctx context.Context, cluster *redisv1.RedisCluster, p plan) error {
	var all []error
	for _, pod := range p.stop {
		all = append(all, r.stop(ctx, cluster, pod))
	}
	for _, pod := range p.start {
		all = append(all, r.start(ctx, cluster, pod))
	}
	return errors.Join(all...)
}

// stop deletes a pod. Its UID keeps a late pass from deleting the pod that has come in its place.
func (r *RedisClusterReconciler) stop(ctx context.Context, cluster *redisv1.RedisCluster, pod *corev1.Pod) error {
	if err := r.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("stop an instance: %w", err))
	}
	r.Recorder.Eventf(cluster, pod, corev1.EventTypeNormal, "Stopped", "Stop", "Stopped the instance %s", pod.Name)
	return nil
}

func (r *RedisClusterReconciler) start(ctx context.Context, cluster *redisv1.RedisCluster, pod *corev1.Pod) error {
	if err := controllerutil.SetControllerReference(cluster, pod, r.Scheme); err != nil {
		return err
	}
	if err := r.Create(ctx, pod); err != nil {
		return fmt.Errorf("start an instance: %w", err)
	}
	r.Recorder.Eventf(cluster, pod, corev1.EventTypeNormal, "Started", "Start", "Started the instance %s", pod.Name)
	return nil
}

// ownerIndex finds pods by the UID of what controls them. A RedisCluster that was deleted and made again has another
// one.
const ownerIndex = "metadata.controller"

// SetupWithManager registers the reconciler for RedisClusters and for pods. A pod concerns the RedisCluster that its
// name fits, also one that it does not own: Owns would miss that a name becomes free.
func (r *RedisClusterReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("rediscluster-controller")
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, ownerIndex, func(o client.Object) []string {
		if owner := metav1.GetControllerOf(o); owner != nil {
			return []string{string(owner.UID)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&redisv1.RedisCluster{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(clusterOf), builder.WithPredicates(concernsPlan())).
		Named("rediscluster").
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

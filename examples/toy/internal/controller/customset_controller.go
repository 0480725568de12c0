// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

// Package controller keeps the pods of CustomSets. customset_controller.go is the way through one pass, pods.go decides
// which pods are missing and which are too many, and status.go reports. A Toy needs no controller.
package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	batchv1 "example.com/toy/api/v1"
)

// CustomSetReconciler keeps as many pods as CustomSets ask for.
type CustomSetReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Recorder records events about CustomSets. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// Each verb here is used, and none that is used is missing: a test counts them at the API server. The subresource
// /scale is for users: the operator reads spec.replicas, whichever way it was changed.

// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=customsets,verbs=list;watch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=customsets/status,verbs=patch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=customsets/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile brings one CustomSet up to date: its pods, and its status.
func (r *CustomSetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var set batchv1.CustomSet
	if err := r.Get(ctx, req.NamespacedName, &set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if set.DeletionTimestamp != nil {
		return ctrl.Result{}, nil // garbage collection deletes the pods
	}
	var list corev1.PodList
	if err := r.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingFields{setIndex: set.Name}); err != nil {
		return ctrl.Result{}, fmt.Errorf("list the pods: %w", err)
	}
	p := compare(&set, list.Items)
	scaleErr := r.scale(ctx, &set, &p)
	return ctrl.Result{}, errors.Join(scaleErr, r.report(ctx, &set, p, refusal(scaleErr)))
}

// scale creates the pods that are missing, and deletes those that are too many.
func (r *CustomSetReconciler) scale(ctx context.Context, set *batchv1.CustomSet, p *plan) error {
	for _, pod := range p.surplus {
		if err := r.Delete(ctx, &pod, client.Preconditions{UID: &pod.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete a pod: %w", err)
		}
	}
	for _, n := range p.missing {
		pod := describe(set, n)
		if err := controllerutil.SetControllerReference(set, pod, r.Scheme); err != nil {
			return err
		}
		if err := r.Create(ctx, pod); err != nil {
			return fmt.Errorf("create a pod: %w", err)
		}
		p.alive = append(p.alive, *pod)
	}
	if len(p.missing)+len(p.surplus) > 0 {
		r.Recorder.Eventf(set, nil, corev1.EventTypeNormal, "Scaled", "Scale", "Created %d pods and deleted %d", len(p.missing), len(p.surplus))
	}
	return nil
}

// setIndex finds pods by the CustomSet that their name begins with.
const setIndex = "customSet"

// SetupWithManager registers the reconciler for CustomSets and for pods. A pod concerns the CustomSet that its name
// begins with, also one that it does not belong to: Owns would miss that a name becomes free.
func (r *CustomSetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("customset-controller")
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, setIndex, func(o client.Object) []string {
		if set, _, ok := parse(o.GetName()); ok {
			return []string{set}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&batchv1.CustomSet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(setOf), builder.WithPredicates(matters())).
		Named("customset").
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

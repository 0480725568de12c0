// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

const (
	// namesIndex finds Pipelines by the names that their parts have or would have, and by their namespace.
	namesIndex = "names"

	// ownerIndex finds objects by the UID of what controls them.
	ownerIndex = "metadata.controller"
)

// SetupWithManager registers the reconciler for Pipelines, and for all that changes what it finds. An object concerns
// the Pipelines that want its name, also those that do not own it: Owns would miss that a name becomes free.
func (r *PipelineReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("pipeline-controller")
	}
	if err := index(mgr.GetFieldIndexer()); err != nil {
		return err
	}
	wanted := handler.EnqueueRequestsFromMapFunc(r.wanting)
	return ctrl.NewControllerManagedBy(mgr).
		For(&distriinferv1beta1.Pipeline{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.PersistentVolume{}, wanted).
		Watches(&corev1.PersistentVolumeClaim{}, wanted).
		Watches(&corev1.Service{}, wanted).
		Watches(&appsv1.Deployment{}, wanted, builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, phaseChanged()))).
		WatchesMetadata(&corev1.Namespace{}, wanted, builder.WithPredicates(comesOrGoes())).
		Named("pipeline").
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

// index makes both indexes.
func index(indexer client.FieldIndexer) error {
	err := indexer.IndexField(context.Background(), &distriinferv1beta1.Pipeline{}, namesIndex, func(o client.Object) []string {
		pipeline := o.(*distriinferv1beta1.Pipeline)
		names := []string{key(namespaceOf(pipeline))}
		for _, p := range newParts(pipeline) {
			names = append(names, key(p))
		}
		return names
	})
	for _, o := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}} {
		if err == nil {
			err = indexer.IndexField(context.Background(), o, ownerIndex, owner)
		}
	}
	return err
}

// key is an object's namespace and name. It has no kind: that two kinds share a name costs a pass, and nothing else.
func key(o client.Object) string { return client.ObjectKeyFromObject(o).String() }

func owner(o client.Object) []string {
	if owner := metav1.GetControllerOf(o); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

func namespaceMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
}

func namespaceOf(pipeline *distriinferv1beta1.Pipeline) client.Object {
	namespace := namespaceMetadata()
	namespace.Name = pipeline.Spec.Namespace
	return namespace
}

// wanting returns the Pipelines that have, or want, a part of an object's name.
func (r *PipelineReconciler) wanting(ctx context.Context, o client.Object) []reconcile.Request {
	var list distriinferv1beta1.PipelineList
	if err := r.List(ctx, &list, client.MatchingFields{namesIndex: key(o)}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "List the Pipelines that want a name", "name", key(o))
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}

// phaseChanged lets those changes of a Deployment's status through that the Pipeline's status shows.
func phaseChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*appsv1.Deployment)
		after, same := e.ObjectNew.(*appsv1.Deployment)
		return !ok || !same || deploymentPhase(before) != deploymentPhase(after)
	}}
}

// comesOrGoes leaves out updates, but for the one with which a deletion begins.
func comesOrGoes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}

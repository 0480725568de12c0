// Copyright 2026 The apiexample authors
// SPDX-License-Identifier: Apache-2.0

// Package controller writes the words of ApiExampleAs to the log.
package controller

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	groupav1 "example.com/operator-demo/api/v1"
)

// ApiExampleAReconciler logs each change of foo.
type ApiExampleAReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Reads come from the cache, which lists and watches and never gets.

// +kubebuilder:rbac:groups=groupa.k8s.zhuang.com,resources=apiexampleas,verbs=list;watch
// +kubebuilder:rbac:groups=groupa.k8s.zhuang.com,resources=apiexampleas/status,verbs=patch

// Reconcile compares foo with what the status says was logged, logs what differs, and remembers it in the status. The
// log comes first: if the status cannot be written, the change is logged again and never lost.
func (r *ApiExampleAReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := ctrl.LoggerFrom(ctx) // says which object it is about
	var example groupav1.ApiExampleA
	if err := r.Get(ctx, req.NamespacedName, &example); err != nil {
		if apierrors.IsNotFound(err) {
			log.Info("The ApiExampleA is gone")
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if example.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	logChange(log, &example)
	return ctrl.Result{}, r.report(ctx, &example)
}

// logChange is the business logic: it logs what has happened to foo since the last time.
func logChange(log logr.Logger, example *groupav1.ApiExampleA) {
	switch before, now := example.Status.Foo, example.Spec.Foo; {
	case before == now:
		log.V(1).Info("Foo is as it was", "foo", now)
	case before == "":
		log.Info("Foo is set", "foo", now)
	case now == "":
		log.Info("Foo is gone", "before", before)
	default:
		log.Info("Foo has changed", "foo", now, "before", before)
	}
}

// report writes the status, if it differs.
func (r *ApiExampleAReconciler) report(ctx context.Context, example *groupav1.ApiExampleA) error {
	before := example.DeepCopy()
	example.Status.Foo = example.Spec.Foo
	meta.SetStatusCondition(&example.Status.Conditions, logged(example))
	if equality.Semantic.DeepEqual(before.Status, example.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, example, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// logged is the condition of that name.
func logged(example *groupav1.ApiExampleA) metav1.Condition {
	c := metav1.Condition{Type: groupav1.ConditionLogged, ObservedGeneration: example.Generation}
	if example.Spec.Foo == "" {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, groupav1.ReasonNoFoo, "There is nothing to log: set spec.foo."
	} else {
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, groupav1.ReasonWritten, "The log of the operator has it."
	}
	return c
}

// SetupWithManager registers the reconciler for ApiExampleAs. Changes of their status are its own, and cause no pass.
func (r *ApiExampleAReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&groupav1.ApiExampleA{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Named("apiexamplea").
		Complete(r)
}

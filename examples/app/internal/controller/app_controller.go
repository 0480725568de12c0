// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

// Package controller runs Apps. app_controller.go is the way through one pass, parts.go knows what belongs to an App,
// and status.go what is reported.
package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	ingressv1beta1 "example.com/app/api/v1beta1"
)

// AppReconciler runs Apps.
type AppReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Recorder records events about Apps. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// Reads come from the cache, which lists and watches and never gets. A Deployment is never deleted by the operator:
// it goes with its App.

// +kubebuilder:rbac:groups=ingress.baiding.tech,resources=apps,verbs=list;watch
// +kubebuilder:rbac:groups=ingress.baiding.tech,resources=apps/status,verbs=patch
// +kubebuilder:rbac:groups=ingress.baiding.tech,resources=apps/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile brings the parts of one App up to date, each whatever becomes of the others, and reports.
func (r *AppReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var app ingressv1beta1.App
	if err := r.Get(ctx, req.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if app.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	all := parts(&app)
	var taken []string
	var errs []error
	for _, p := range all {
		err := r.bring(ctx, &app, p)
		if errors.Is(err, errTaken) { // a repetition would not help: the object is watched
			taken = append(taken, p.kind)
		} else if err != nil {
			errs = append(errs, fmt.Errorf("the %s: %w", p.kind, err))
		}
	}
	err := errors.Join(errs...)
	deployment := all[0].object.(*appsv1.Deployment)
	return ctrl.Result{}, errors.Join(err, r.report(ctx, &app, observation{deployment, taken, err}))
}

// errTaken is why a part is not written whose name something else uses. Adopting that object would replace what
// others rely on.
var errTaken = errors.New("it belongs to something else")

// bring creates a part or changes what differs, or deletes it if it is not wanted.
func (r *AppReconciler) bring(ctx context.Context, app *ingressv1beta1.App, p part) error {
	if !p.wanted {
		return r.remove(ctx, app, p)
	}
	done, err := controllerutil.CreateOrPatch(ctx, r.Client, p.object, func() error {
		if p.object.GetResourceVersion() != "" && !metav1.IsControlledBy(p.object, app) {
			return errTaken
		}
		p.describe()
		return controllerutil.SetControllerReference(app, p.object, r.Scheme)
	})
	if err == nil && done == controllerutil.OperationResultCreated {
		r.Recorder.Eventf(app, p.object, corev1.EventTypeNormal, "Created", "Create", "Created the %s", p.kind)
	}
	return err
}

// remove deletes a part, if it is there and the App's.
func (r *AppReconciler) remove(ctx context.Context, app *ingressv1beta1.App, p part) error {
	err := r.Get(ctx, client.ObjectKeyFromObject(p.object), p.object)
	if err != nil || !metav1.IsControlledBy(p.object, app) || p.object.GetDeletionTimestamp() != nil {
		return client.IgnoreNotFound(err)
	}
	uid := p.object.GetUID()
	if err := r.Delete(ctx, p.object, client.Preconditions{UID: &uid}); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.Recorder.Eventf(app, p.object, corev1.EventTypeNormal, "Deleted", "Delete", "Deleted the %s", p.kind)
	return nil
}

// SetupWithManager registers the reconciler for Apps and their parts. An object concerns the App of its name, also
// one that the App does not own: Owns would miss that a name becomes free.
func (r *AppReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("app-controller")
	}
	byName := &handler.EnqueueRequestForObject{}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&ingressv1beta1.App{}, changed).
		Watches(&appsv1.Deployment{}, byName, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, rolloutChanged()))).
		Watches(&corev1.Service{}, byName). // a Service has no generation
		Watches(&networkingv1.Ingress{}, byName, changed).
		Named("app").
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

// rolloutChanged lets those changes of a Deployment's status through that the App's status shows.
func rolloutChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*appsv1.Deployment)
		after, same := e.ObjectNew.(*appsv1.Deployment)
		return !ok || !same || isRolledOut(before) != isRolledOut(after) || before.Status.ReadyReplicas != after.Status.ReadyReplicas
	}}
}

// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

// Package controller registers Demos outside of the cluster, and removes their entries before they go.
// demo_controller.go is the way through one pass, and status.go what is reported.
package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	examplev1 "example.com/democrd/api/v1"
	"example.com/democrd/internal/registry"
)

// Registry holds an entry for each Demo. Both methods may be called again after they have done their work: the operator
// may be stopped before it notes that.
type Registry interface {
	Put(ctx context.Context, owner types.UID, entry string) error
	Remove(ctx context.Context, owner types.UID) error
}

// DemoReconciler keeps the entries of Demos.
type DemoReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Registry holds the entries. SetupWithManager puts a folder here if nothing is set.
	Registry Registry

	// Recorder records events about Demos. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// Each verb here is used, and none that is used is missing: a test counts them at the API server. The finalizer is a
// part of the Demo, so it takes the verb patch on demos.

// +kubebuilder:rbac:groups=example.com,resources=demos,verbs=list;watch;patch
// +kubebuilder:rbac:groups=example.com,resources=demos/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// lookAgain is when a Demo is looked at again without a change. What is outside of the cluster cannot be watched.
const lookAgain = 10 * time.Minute

// Reconcile brings one Demo up to date: the finalizer first, since an entry that was made without it might be left
// behind.
func (r *DemoReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var demo examplev1.Demo
	if err := r.Get(ctx, req.NamespacedName, &demo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if demo.DeletionTimestamp != nil {
		return ctrl.Result{}, r.finalize(ctx, &demo)
	}
	if err := r.changeFinalizers(ctx, &demo, controllerutil.AddFinalizer); err != nil {
		return ctrl.Result{}, fmt.Errorf("add the finalizer: %w", err)
	}
	failed := r.Registry.Put(ctx, demo.UID, fmt.Sprintf("%s/%s is %q", demo.Namespace, demo.Name, demo.Spec.Name))
	return ctrl.Result{RequeueAfter: lookAgain}, errors.Join(failed, r.report(ctx, &demo, failed))
}

// finalize removes the entry of a Demo that is being deleted, and then lets the Demo go. If the operator is stopped in
// between, the next one finds no entry and goes on. While another finalizer keeps the Demo, there is nothing more to
// do.
func (r *DemoReconciler) finalize(ctx context.Context, demo *examplev1.Demo) error {
	if !controllerutil.ContainsFinalizer(demo, examplev1.Finalizer) {
		return nil
	}
	if err := r.Registry.Remove(ctx, demo.UID); err != nil {
		return errors.Join(err, r.report(ctx, demo, err))
	}
	r.Recorder.Eventf(demo, nil, corev1.EventTypeNormal, "CleanedUp", "Finalize", "Removed the entry in the registry")
	if err := r.changeFinalizers(ctx, demo, controllerutil.RemoveFinalizer); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	return nil
}

// changeFinalizers writes the finalizers if change does something to them. They are a list as a whole: with the
// optimistic lock nothing is lost that others write at the same time.
func (r *DemoReconciler) changeFinalizers(ctx context.Context, demo *examplev1.Demo, change func(client.Object, string) bool) error {
	before := demo.DeepCopy()
	if !change(demo, examplev1.Finalizer) {
		return nil
	}
	return r.Patch(ctx, demo, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// registryVariable names the folder of the registry.
const registryVariable = "REGISTRY_DIR"

// SetupWithManager registers the reconciler for Demos. A deletion that waits for the finalizer raises the generation,
// too.
func (r *DemoReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("demo-controller")
	}
	if r.Registry == nil {
		r.Registry = registry.Folder(cmp.Or(os.Getenv(registryVariable), filepath.Join(os.TempDir(), "democrd-registry")))
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&examplev1.Demo{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Named("demo").
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

// Copyright 2026 The guestbook authors
// SPDX-License-Identifier: Apache-2.0

// Package controller runs Guestbooks. guestbook_controller.go is the way through one pass, instances.go knows what
// runs for a Guestbook, and status.go what is reported about it.
package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	webappv1 "example.com/guestbook/api/v1"
)

// GuestbookReconciler runs the instances of Guestbooks.
type GuestbookReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Recorder records events about Guestbooks. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// Each verb here is used, and none that is used is missing: a test counts them at the API server. Reads come from the
// cache, which lists and watches and never gets.

// +kubebuilder:rbac:groups=webapp.my.domain,resources=guestbooks,verbs=list;watch
// +kubebuilder:rbac:groups=webapp.my.domain,resources=guestbooks/status,verbs=patch
// +kubebuilder:rbac:groups=webapp.my.domain,resources=guestbooks/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods;configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile brings one Guestbook up to date: its instances, and its status. It needs no finalizer, since all that
// belongs to a Guestbook is in the cluster and goes by garbage collection.
func (r *GuestbookReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var guestbook webappv1.Guestbook
	if err := r.Get(ctx, req.NamespacedName, &guestbook); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if guestbook.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	seen, err := r.observe(ctx, &guestbook)
	if err != nil {
		return ctrl.Result{}, err
	}
	var runErr error
	if seen.configured {
		runErr = r.run(ctx, &guestbook)
	}
	if seen.taken = errors.Is(runErr, errTaken); seen.taken {
		runErr = nil // a repetition would not help: the StatefulSet is watched
	}
	seen.refusal = refusal(runErr)
	return ctrl.Result{}, errors.Join(runErr, r.report(ctx, &guestbook, seen))
}

// observation is what one pass finds.
type observation struct {
	configured bool   // the ConfigMap is there
	taken      bool   // the StatefulSet is not the Guestbook's
	refusal    string // why the API server does not take the StatefulSet
	pods       []corev1.Pod
}

// observe looks at what a Guestbook depends on and at what runs for it.
func (r *GuestbookReconciler) observe(ctx context.Context, guestbook *webappv1.Guestbook) (seen observation, err error) {
	config := &metav1.PartialObjectMetadata{}
	config.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err = r.Get(ctx, client.ObjectKey{Namespace: guestbook.Namespace, Name: guestbook.Spec.ConfigMapName}, config)
	if client.IgnoreNotFound(err) != nil {
		return seen, fmt.Errorf("look for the ConfigMap: %w", err)
	}
	seen.configured = err == nil
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(guestbook.Namespace), client.MatchingLabels(labels(guestbook.Name))); err != nil {
		return seen, fmt.Errorf("list the pods: %w", err)
	}
	seen.pods = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !isInstance(&pod, guestbook) })
	return seen, nil
}

// run creates the StatefulSet of a Guestbook, or changes what differs.
func (r *GuestbookReconciler) run(ctx context.Context, guestbook *webappv1.Guestbook) error {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: guestbook.Namespace, Name: guestbook.Name}}
	done, err := controllerutil.CreateOrPatch(ctx, r.Client, set, func() error {
		if set.ResourceVersion != "" && !metav1.IsControlledBy(set, guestbook) {
			return errTaken
		}
		describe(guestbook, set)
		return controllerutil.SetControllerReference(guestbook, set, r.Scheme)
	})
	if err != nil {
		return fmt.Errorf("run the instances: %w", err)
	}
	if done == controllerutil.OperationResultCreated {
		r.Recorder.Eventf(guestbook, set, corev1.EventTypeNormal, "Created", "Create", "Created the StatefulSet of %d instances", guestbook.Spec.Size)
	}
	return nil
}

// errTaken is why nothing is run for a Guestbook whose StatefulSet's name something else uses. Adopting it would
// replace what another one's users rely on.
var errTaken = errors.New("the StatefulSet belongs to something else")

// configIndex finds Guestbooks by the ConfigMap that they name.
const configIndex = "spec.configMapName"

// SetupWithManager registers the reconciler for Guestbooks, and for all that changes what it finds. A StatefulSet
// concerns the Guestbook of its name, also one that it does not own: Owns would miss that a name becomes free. Of
// ConfigMaps only the metadata is watched: their contents are for the instances. Changes of a Guestbook's status are
// its own.
func (r *GuestbookReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("guestbook-controller")
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &webappv1.Guestbook{}, configIndex, func(o client.Object) []string {
		return []string{o.(*webappv1.Guestbook).Spec.ConfigMapName}
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&webappv1.Guestbook{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&appsv1.StatefulSet{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(guestbookOf), builder.WithPredicates(readinessChanged())).
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.configuredBy), builder.WithPredicates(comesOrGoes())).
		Named("guestbook").
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

// configuredBy returns the Guestbooks that name a ConfigMap.
func (r *GuestbookReconciler) configuredBy(ctx context.Context, config client.Object) []reconcile.Request {
	var list webappv1.GuestbookList
	err := r.List(ctx, &list, client.InNamespace(config.GetNamespace()), client.MatchingFields{configIndex: config.GetName()})
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "List the Guestbooks of a ConfigMap", "configMap", client.ObjectKeyFromObject(config))
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}

// guestbookOf returns the Guestbook whose label a pod has. The pod's owner is the StatefulSet, not the Guestbook.
func guestbookOf(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[instanceLabel]
	if name == "" || pod.GetLabels()[managedByLabel] != managedBy {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

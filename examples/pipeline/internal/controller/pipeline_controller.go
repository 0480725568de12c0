// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

// Package controller runs Pipelines. pipeline_controller.go is the way through one pass, watches.go says what brings
// one about, storage.go and steps.go know the parts of a Pipeline, and status.go what is reported.
package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

// PipelineReconciler runs Pipelines.
type PipelineReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Recorder records events about Pipelines. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// Reads come from the cache, which lists and watches and never gets. Volume and claim are never deleted by the
// operator: they go with their Pipeline, as the steps do that it still has.

// +kubebuilder:rbac:groups=distri-infer.ndsl.cn,resources=pipelines,verbs=list;watch
// +kubebuilder:rbac:groups=distri-infer.ndsl.cn,resources=pipelines/status,verbs=patch
// +kubebuilder:rbac:groups=distri-infer.ndsl.cn,resources=pipelines/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumes;persistentvolumeclaims,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile brings the parts of one Pipeline up to date, each whatever becomes of the others, and reports.
func (r *PipelineReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var pipeline distriinferv1beta1.Pipeline
	if err := r.Get(ctx, req.NamespacedName, &pipeline); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if pipeline.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	there, err := r.hasNamespace(ctx, pipeline.Spec.Namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	parts := newParts(&pipeline)
	if there {
		err = errors.Join(r.bringAll(ctx, &pipeline, parts), r.removeSurplus(ctx, &pipeline))
	}
	return ctrl.Result{}, errors.Join(err, r.report(ctx, &pipeline, observation{parts, !there, err}))
}

// A part is an object that belongs to a Pipeline.
type part struct {
	client.Object
	describe func()                          // writes into the object what the Pipeline asks for
	phase    func() distriinferv1beta1.Phase // of the object as it is
	taken    bool                            // something else has its name
}

// newParts lists the parts of a Pipeline. The volume comes first, the claim second, then a Deployment and a Service for
// each step.
func newParts(pipeline *distriinferv1beta1.Pipeline) []*part {
	parts := []*part{newVolume(pipeline), newClaim(pipeline)}
	for i := range pipeline.Spec.Steps {
		step := &pipeline.Spec.Steps[i]
		parts = append(parts, newDeployment(pipeline, step), newService(pipeline, step))
	}
	return parts
}

// bringAll brings each part up to date. One that fails does not keep the others from it.
func (r *PipelineReconciler) bringAll(ctx context.Context, pipeline *distriinferv1beta1.Pipeline, parts []*part) error {
	var errs []error
	for _, p := range parts {
		if err := r.bring(ctx, pipeline, p); err != nil && !p.taken { // a repetition would not help: the object is watched
			errs = append(errs, fmt.Errorf("%s %s: %w", kindOf(p.Object), p.GetName(), err))
		}
	}
	return errors.Join(errs...)
}

// bring creates a part or changes what differs.
func (r *PipelineReconciler) bring(ctx context.Context, pipeline *distriinferv1beta1.Pipeline, p *part) error {
	done, err := controllerutil.CreateOrPatch(ctx, r.Client, p.Object, func() error {
		if p.taken = p.GetResourceVersion() != "" && !metav1.IsControlledBy(p, pipeline); p.taken {
			return errTaken
		}
		p.SetLabels(merged(p.GetLabels(), labels(pipeline)))
		p.describe()
		return controllerutil.SetControllerReference(pipeline, p, r.Scheme)
	})
	if err == nil && done == controllerutil.OperationResultCreated {
		r.Recorder.Eventf(pipeline, p.Object, corev1.EventTypeNormal, "Created", "Create", "Created the %s %s", kindOf(p.Object), p.GetName())
	}
	return err
}

// errTaken is why a part is not written whose name something else uses. Adopting that object would replace what
// others rely on.
var errTaken = errors.New("it belongs to something else")

// hasNamespace reports whether there is a namespace in which objects can be made.
func (r *PipelineReconciler) hasNamespace(ctx context.Context, name string) (bool, error) {
	namespace := namespaceMetadata()
	if err := r.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return namespace.DeletionTimestamp == nil, nil
}

// removeSurplus deletes what belongs to steps that the Pipeline no longer has.
func (r *PipelineReconciler) removeSurplus(ctx context.Context, pipeline *distriinferv1beta1.Pipeline) error {
	var errs []error
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}} {
		err := r.List(ctx, list, client.InNamespace(pipeline.Spec.Namespace), client.MatchingFields{ownerIndex: string(pipeline.UID)})
		if err != nil {
			return fmt.Errorf("list what belongs to steps: %w", err)
		}
		errs = append(errs, meta.EachListItem(list, func(o runtime.Object) error {
			return r.removeUnless(ctx, pipeline, o.(client.Object))
		}))
	}
	return errors.Join(errs...)
}

// removeUnless deletes an object of the Pipeline unless a step has its name.
func (r *PipelineReconciler) removeUnless(ctx context.Context, pipeline *distriinferv1beta1.Pipeline, o client.Object) error {
	if hasStep(pipeline, o.GetName()) || o.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := o.GetUID()
	if err := r.Delete(ctx, o, client.Preconditions{UID: &uid}); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("remove a step: %w", err))
	}
	r.Recorder.Eventf(pipeline, o, corev1.EventTypeNormal, "Deleted", "Delete", "Deleted the %s %s", kindOf(o), o.GetName())
	return nil
}

// Copyright 2026 The mycronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package controller starts the Jobs of MyCronJobs. mycronjob_controller.go is the way through one pass, jobs.go
// knows which Job is due and which are surplus, and status.go what is reported.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	kbatch "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "wzj.kubebuilder.io/project/api/v1"
)

// MyCronJobReconciler starts the Jobs of MyCronJobs.
type MyCronJobReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Clock says what time it is. SetupWithManager puts the machine's here if nothing is set.
	Clock clock.PassiveClock

	// Recorder records events about MyCronJobs. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// Reads come from the cache, which lists and watches and never gets.

// +kubebuilder:rbac:groups=batch.wzj.kubebuilder.io,resources=mycronjobs,verbs=list;watch
// +kubebuilder:rbac:groups=batch.wzj.kubebuilder.io,resources=mycronjobs/status,verbs=patch
// +kubebuilder:rbac:groups=batch.wzj.kubebuilder.io,resources=mycronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile starts the Job that is due, deletes those that are surplus, and reports. It wakes up again when the next
// Job is due. It needs no finalizer: Jobs go with the MyCronJob that owns them.
func (r *MyCronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var myCronJob batchv1.MyCronJob
	if err := r.Get(ctx, req.NamespacedName, &myCronJob); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if myCronJob.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	jobs, err := r.list(ctx, &myCronJob)
	if err != nil {
		return ctrl.Result{}, err
	}
	now := r.Clock.Now()
	before := myCronJob.DeepCopy()
	startErr := r.start(ctx, &myCronJob, jobs, now)
	trimErr := r.trim(ctx, &myCronJob, jobs)
	statusErr := r.report(ctx, before, &myCronJob, startErr)
	return ctrl.Result{RequeueAfter: untilNext(now)}, errors.Join(repeatable(startErr), trimErr, statusErr)
}

// list returns the Jobs of a MyCronJob.
func (r *MyCronJobReconciler) list(ctx context.Context, myCronJob *batchv1.MyCronJob) ([]kbatch.Job, error) {
	var jobs kbatch.JobList
	err := r.List(ctx, &jobs, client.InNamespace(myCronJob.Namespace), client.MatchingFields{ownerIndex: string(myCronJob.UID)})
	if err != nil {
		return nil, fmt.Errorf("list the Jobs: %w", err)
	}
	return jobs.Items, nil
}

// These are why no Job has started, although one is due. The next one is tried at its time.
var (
	errTooMany = fmt.Errorf("%d Jobs have not finished", maxUnfinished)
	errTaken   = errors.New("its name is that of a Job that belongs to something else")
)

// start starts the Job that is due, if there is one, and notes its time in the status.
func (r *MyCronJobReconciler) start(ctx context.Context, myCronJob *batchv1.MyCronJob, jobs []kbatch.Job, now time.Time) error {
	if !due(&myCronJob.Status, now) {
		return nil
	}
	if unfinished(jobs) >= maxUnfinished {
		return errTooMany
	}
	job := newJob(myCronJob, slot(now))
	if err := ctrl.SetControllerReference(myCronJob, job, r.Scheme); err != nil {
		return fmt.Errorf("own the Job %s: %w", job.Name, err)
	}
	if err := r.create(ctx, job, myCronJob); err != nil {
		return fmt.Errorf("start the Job %s: %w", job.Name, err)
	}
	myCronJob.Status.LastRunTime = new(metav1.NewTime(slot(now)))
	return nil
}

// create creates a Job that may be there already: an earlier pass has created it, and its answer was lost.
func (r *MyCronJobReconciler) create(ctx context.Context, job *kbatch.Job, owner *batchv1.MyCronJob) error {
	err := r.Create(ctx, job)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var found kbatch.Job
	if err := r.Get(ctx, client.ObjectKeyFromObject(job), &found); err != nil {
		return err // the cache does not show it yet, so try again
	}
	if !metav1.IsControlledBy(&found, owner) {
		return errTaken
	}
	return nil
}

// trim deletes surplus Jobs with their pods.
func (r *MyCronJobReconciler) trim(ctx context.Context, myCronJob *batchv1.MyCronJob, jobs []kbatch.Job) error {
	var errs []error
	for _, job := range surplus(jobs, myCronJob.Spec.HistoryLimit) {
		err := r.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &job.UID})
		if client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete the Job %s: %w", job.Name, err))
		}
	}
	return errors.Join(errs...)
}

// repeatable returns nil for errors that a repetition before the next Job is due would not help.
func repeatable(err error) error {
	if errors.Is(err, errTooMany) || errors.Is(err, errTaken) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// ownerIndex finds Jobs by the UID of their owner. A MyCronJob that was deleted and made again does not count the
// Jobs of the one before.
const ownerIndex = ".metadata.controller"

// SetupWithManager registers the reconciler for MyCronJobs and their Jobs. A pass that failed is repeated within the
// interval.
func (r *MyCronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("mycronjob-controller")
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &kbatch.Job{}, ownerIndex, ownerOf); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&batchv1.MyCronJob{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&kbatch.Job{}, builder.WithPredicates(finishesOrGoes())).
		Named("mycronjob").
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 4,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](10*time.Millisecond, interval),
		}).
		Complete(r)
}

func ownerOf(job client.Object) []string {
	owner := metav1.GetControllerOf(job)
	if owner == nil {
		return nil
	}
	return []string{string(owner.UID)}
}

// finishesOrGoes leaves out what changes nothing for a pass: the creation of a Job, and the progress of its pods.
func finishesOrGoes() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*kbatch.Job)
			after, same := e.ObjectNew.(*kbatch.Job)
			return !ok || !same || isFinished(before) != isFinished(after)
		},
	}
}

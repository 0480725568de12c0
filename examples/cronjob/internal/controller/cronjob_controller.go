// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package controller runs CronJobs. cronjob_controller.go is the way through one reconciliation. Package schedule finds
// which run is due; jobs.go finds what became of earlier ones. runs.go starts and deletes Jobs. status.go and events.go
// report to the user; metrics.go counts. storage.go keeps what a CronJob has outside of the cluster.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	kbatch "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// CronJobReconciler starts the Jobs of CronJobs at their times and keeps their status and history.
type CronJobReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	// Clock gives the time. SetupWithManager puts the system's clock here if nothing is set.
	Clock Clock

	// Recorder records events about CronJobs. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder

	// Storage keeps what CronJobs have outside of the cluster, if they have any. SetupWithManager puts the
	// folder here that the variable STORAGE_DIR names, if nothing is set.
	Storage Storage
}

// Clock gives the time.
type Clock interface {
	Now() time.Time
}

// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=list;watch;patch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/status,verbs=patch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// longestSleep is the longest time without a look at the clock. Timers do not notice when it is set.
const longestSleep = 10 * time.Minute

// Reconcile brings one CronJob up to date: its storage, its history, the run that is due, and its status. It wakes up
// again at the time of the next run; anything else that matters, a Job that finishes or a CronJob that changes, comes
// as an event. A step that fails is repeated, and keeps no other from being done.
func (r *CronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cronJob batchv1.CronJob
	if err := r.Get(ctx, req.NamespacedName, &cronJob); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if cronJob.DeletionTimestamp != nil {
		return ctrl.Result{}, r.finalize(ctx, &cronJob)
	}
	jobs, err := r.listJobs(ctx, &cronJob)
	if err != nil {
		return ctrl.Result{}, err
	}
	now := r.Clock.Now()
	table, blocked := schedule.Plan(&cronJob.Spec, remember(&cronJob, jobs, now), now)

	storageErr := r.claimStorage(ctx, &cronJob)
	trimErr := r.trimHistory(ctx, &cronJob, jobs)
	started, startErr := r.startDueRun(ctx, &cronJob, jobs.active, table.Due, storageErr)
	statusErr := r.updateStatus(ctx, &cronJob, observation{
		jobs: jobs.with(started), table: table, blocked: blocked,
		storage: r.storageCondition(&cronJob, storageErr), startErr: startErr,
	}, now)
	return ctrl.Result{RequeueAfter: sleep(table, now)},
		errors.Join(storageErr, trimErr, repeatable(startErr), statusErr)
}

// sleep returns how long nothing has to be done, 0 if that is until the CronJob changes.
func sleep(table schedule.Timetable, now time.Time) time.Duration {
	if table.Next.IsZero() {
		return 0
	}
	return min(table.Next.Sub(now), longestSleep)
}

// listJobs returns the Jobs that belong to the CronJob.
func (r *CronJobReconciler) listJobs(ctx context.Context, cronJob *batchv1.CronJob) (childJobs, error) {
	var jobs kbatch.JobList
	err := r.List(ctx, &jobs,
		client.InNamespace(cronJob.Namespace),
		client.MatchingFields{jobOwnerField: string(cronJob.UID)})
	if err != nil {
		return childJobs{}, fmt.Errorf("list the Jobs: %w", err)
	}
	return classify(jobs.Items), nil
}

// remember returns what the CronJob's status and its Jobs know of earlier runs.
func remember(cronJob *batchv1.CronJob, jobs childJobs, now time.Time) schedule.Past {
	past := schedule.Past{
		Schedule:   cronJob.Status.PlannedSchedule,
		Since:      cronJob.CreationTimestamp.Time,
		LastRun:    later(timeOf(cronJob.Status.LastScheduleTime), jobs.lastRun(now)),
		LastMissed: timeOf(cronJob.Status.LastMissedTime),
	}
	if since := cronJob.Status.PlannedSince; since != nil {
		past.Since = since.Time
	}
	return past
}

// SetupWithManager registers the reconciler with the manager: for CronJobs and for the Jobs they own.
func (r *CronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("cronjob-controller")
	}
	if r.Storage == nil {
		r.Storage = storageFromEnvironment()
	}
	if err := indexJobsByOwner(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&batchv1.CronJob{}).
		Owns(&kbatch.Job{}).
		Named("cronjob").
		WithOptions(controller.Options{RateLimiter: patience()}).
		Complete(r)
}

// patience decides how long a failed pass waits for the next one: longer each time, but never so long that the
// next run would start late.
func patience() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, time.Minute)
}

// jobOwnerField is the name under which the cache finds Jobs by the UID of the object that controls them.
// A UID and not a name: a CronJob that was deleted and created anew must not count the old one's Jobs.
const jobOwnerField = ".metadata.controller"

func indexJobsByOwner(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &kbatch.Job{}, jobOwnerField, func(job client.Object) []string {
		owner := metav1.GetControllerOf(job)
		if owner == nil {
			return nil
		}
		return []string{string(owner.UID)}
	})
}

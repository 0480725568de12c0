// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// These errors say why a run that is due has no Job, and are no reason to try again soon.
var (
	errHeldBack  = errors.New("spec.concurrencyPolicy is Forbid and an earlier run is active")
	errNameTaken = errors.New("a Job of that name exists that does not belong to this CronJob")
	errUnready   = errors.New("the storage is not ready") // reported as its own error
)

// repeatable returns the error if it is a reason to repeat the pass.
func repeatable(err error) error {
	if errors.Is(err, errHeldBack) || errors.Is(err, errNameTaken) || errors.Is(err, errUnready) {
		return nil
	}
	return err
}

// startDueRun starts the run that is due, if there is one and nothing is against it, and returns its Job. The
// Job may exist already: an earlier pass made it and the cache did not show it yet.
func (r *CronJobReconciler) startDueRun(
	ctx context.Context, cronJob *batchv1.CronJob, active []*kbatch.Job, due time.Time, storageErr error,
) (*kbatch.Job, error) {
	switch {
	case due.IsZero():
		return nil, nil
	case storageErr != nil:
		countRun(false, storageErr)
		return nil, fmt.Errorf("%w: %w", errUnready, storageErr)
	case cronJob.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(active) > 0:
		return nil, fmt.Errorf("%w: Job %s", errHeldBack, active[0].Name)
	}
	job, created, err := r.startRun(ctx, cronJob, active, due)
	countRun(created, err)
	return job, err
}

// startRun records the run and creates its Job, or finds the one that the CronJob has already. With the policy
// Replace the active Jobs go first.
func (r *CronJobReconciler) startRun(
	ctx context.Context, cronJob *batchv1.CronJob, active []*kbatch.Job, due time.Time,
) (job *kbatch.Job, created bool, err error) {
	job, err = newJob(cronJob, due, r.Scheme)
	if err != nil {
		return nil, false, err
	}
	if err := r.recordRun(ctx, cronJob, job.Name, due); err != nil {
		return nil, false, err
	}
	if cronJob.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent {
		if err := r.deleteJobs(ctx, active); err != nil {
			return nil, false, err
		}
	}
	err = r.Create(ctx, job)
	switch {
	case apierrors.IsAlreadyExists(err):
		job, err = r.existingJob(ctx, cronJob, job.Name)
		return job, false, err
	case err != nil:
		return nil, false, fmt.Errorf("create Job %s: %w", job.Name, err)
	}
	r.Recorder.Eventf(cronJob, job, corev1.EventTypeNormal, batchv1.ReasonJobCreated, "Create", "Created Job %s", job.Name)
	return job, true, nil
}

// existingJob returns the Job of that name if it is the CronJob's. The cache may not show it yet: that is an
// error as well, and the next pass looks again.
func (r *CronJobReconciler) existingJob(ctx context.Context, cronJob *batchv1.CronJob, name string) (*kbatch.Job, error) {
	var job kbatch.Job
	if err := r.Get(ctx, client.ObjectKey{Namespace: cronJob.Namespace, Name: name}, &job); err != nil {
		return nil, fmt.Errorf("look at Job %s, which exists: %w", name, err)
	}
	if !metav1.IsControlledBy(&job, cronJob) {
		return nil, fmt.Errorf("%w: %s", errNameTaken, name)
	}
	return &job, nil
}

// trimHistory deletes the oldest finished Jobs beyond the limits, but none whose run the status, as the
// cache shows it, does not remember yet: with the Job gone and the run forgotten it would start again.
func (r *CronJobReconciler) trimHistory(ctx context.Context, cronJob *batchv1.CronJob, jobs childJobs) error {
	old := slices.Concat(
		surplus(jobs.succeeded, cronJob.Spec.SuccessfulJobsHistoryLimit),
		surplus(jobs.failed, cronJob.Spec.FailedJobsHistoryLimit),
	)
	return r.deleteJobs(ctx, slices.DeleteFunc(old, func(job *kbatch.Job) bool {
		return scheduledAt(job).After(timeOf(cronJob.Status.LastScheduleTime))
	}))
}

// deleteJobs deletes the Jobs; their Pods follow in the background. Another Job that has got one's name
// meanwhile stays.
func (r *CronJobReconciler) deleteJobs(ctx context.Context, jobs []*kbatch.Job) error {
	var errs []error
	for _, job := range jobs {
		err := r.Delete(ctx, job, client.Preconditions{UID: &job.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete Job %s: %w", job.Name, err))
			continue
		}
		logf.FromContext(ctx).Info("Deleted Job", "job", job.Name)
	}
	return errors.Join(errs...)
}

// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// startDueRun starts the run that is due, if there is one and the concurrency policy lets it.
func (r *CronJobReconciler) startDueRun(
	ctx context.Context, cronJob *batchv1.CronJob, active []*kbatch.Job, due time.Time,
) error {
	if due.IsZero() {
		return nil
	}
	switch cronJob.Spec.ConcurrencyPolicy {
	case batchv1.ForbidConcurrent:
		if len(active) > 0 {
			logf.FromContext(ctx).V(1).Info("Holding a run back, an earlier one is active",
				"scheduledAt", due, "active", len(active))
			return nil
		}
	case batchv1.ReplaceConcurrent:
		if err := r.deleteJobs(ctx, active); err != nil {
			return err
		}
	}
	started, err := r.createJob(ctx, cronJob, due)
	countRun(started, err)
	return err
}

// createJob creates the Job of one run and reports whether it did. The Job may exist already: an earlier
// pass made it and the cache does not show it yet.
func (r *CronJobReconciler) createJob(ctx context.Context, cronJob *batchv1.CronJob, at time.Time) (bool, error) {
	job, err := newJob(cronJob, at, r.Scheme)
	if err != nil {
		return false, err
	}
	if err := r.recordRun(ctx, cronJob, job.Name, at); err != nil {
		return false, err
	}
	err = r.Create(ctx, job)
	switch {
	case apierrors.IsAlreadyExists(err):
		return false, nil
	case apierrors.IsInvalid(err): // trying again is no use before the template changes
		r.Recorder.Eventf(cronJob, nil, corev1.EventTypeWarning, "InvalidJob", "Create", "%.900s", err) // a note holds 1 KB
		return false, reconcile.TerminalError(fmt.Errorf("create Job %s: %w", job.Name, err))
	case err != nil:
		return false, fmt.Errorf("create Job %s: %w", job.Name, err)
	}
	r.Recorder.Eventf(cronJob, job, corev1.EventTypeNormal, "JobCreated", "Create", "Created Job %s", job.Name)
	return true, nil
}

// trimHistory deletes the oldest finished Jobs beyond the limits, but none whose run the status, as the
// cache shows it, does not remember yet: with the Job gone and the run forgotten it would start again.
func (r *CronJobReconciler) trimHistory(ctx context.Context, cronJob *batchv1.CronJob, jobs childJobs) error {
	old := slices.Concat(
		surplus(jobs.succeeded, cronJob.Spec.SuccessfulJobsHistoryLimit),
		surplus(jobs.failed, cronJob.Spec.FailedJobsHistoryLimit),
	)
	return r.deleteJobs(ctx, slices.DeleteFunc(old, func(job *kbatch.Job) bool {
		remembered := cronJob.Status.LastScheduleTime
		return remembered == nil || scheduledAt(job).After(remembered.Time)
	}))
}

// deleteJobs deletes the Jobs; their Pods follow in the background.
func (r *CronJobReconciler) deleteJobs(ctx context.Context, jobs []*kbatch.Job) error {
	for _, job := range jobs {
		err := r.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Job %s: %w", job.Name, err)
		}
		logf.FromContext(ctx).Info("Deleted Job", "job", job.Name)
	}
	return nil
}

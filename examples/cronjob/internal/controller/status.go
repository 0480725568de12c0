// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// updateStatus writes what was observed, unless the status says so already. The CronJob passed in stays as
// it was read. A merge patch without a lock is enough: nobody else writes the status, and one that was
// computed from an old cache is put right in the pass that the newer objects cause.
func (r *CronJobReconciler) updateStatus(
	ctx context.Context, cronJob *batchv1.CronJob, status batchv1.CronJobStatus,
) error {
	if equality.Semantic.DeepEqual(cronJob.Status, status) {
		return nil
	}
	updated := cronJob.DeepCopy()
	updated.Status = status
	if err := r.Status().Patch(ctx, updated, client.MergeFrom(cronJob)); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	r.reportBlocked(cronJob, status)
	return nil
}

// reportBlocked records an event when the CronJob has got into a state that its user must mend.
func (r *CronJobReconciler) reportBlocked(cronJob *batchv1.CronJob, status batchv1.CronJobStatus) {
	before := meta.FindStatusCondition(cronJob.Status.Conditions, batchv1.ConditionSchedulable)
	after := meta.FindStatusCondition(status.Conditions, batchv1.ConditionSchedulable)
	if after.Status == metav1.ConditionTrue || after.Reason == batchv1.ReasonSuspended {
		return
	}
	if before == nil || before.Reason != after.Reason || before.Message != after.Message {
		r.Recorder.Eventf(cronJob, nil, corev1.EventTypeWarning, after.Reason, "Schedule", "%s", after.Message)
	}
}

// observe rebuilds the status from the Jobs and from what, if anything, blocks the schedule.
func observe(cronJob *batchv1.CronJob, jobs childJobs, blocked error, now time.Time) batchv1.CronJobStatus {
	status := batchv1.CronJobStatus{
		Active:     references(jobs.active),
		Conditions: cronJob.DeepCopy().Status.Conditions,
	}
	if last := lastRun(cronJob, jobs); !last.IsZero() {
		status.LastScheduleTime = &metav1.Time{Time: last}
	}
	condition := schedulable(blocked)
	condition.ObservedGeneration = cronJob.Generation
	condition.LastTransitionTime = metav1.NewTime(now)
	meta.SetStatusCondition(&status.Conditions, condition)
	return status
}

// lastRun returns the latest time for which a run was scheduled, zero if there was none. The Jobs know it,
// but they may have been trimmed or deleted since, so what the status remembers counts as well.
func lastRun(cronJob *batchv1.CronJob, jobs childJobs) time.Time {
	if cronJob.Status.LastScheduleTime == nil {
		return jobs.lastRun()
	}
	return later(cronJob.Status.LastScheduleTime.Time, jobs.lastRun())
}

// schedulable tells the user what, if anything, blocks the schedule.
func schedulable(blocked error) metav1.Condition {
	condition := metav1.Condition{
		Type:   batchv1.ConditionSchedulable,
		Status: metav1.ConditionTrue,
		Reason: batchv1.ReasonScheduled,
	}
	if blocked != nil {
		condition.Status = metav1.ConditionFalse
		condition.Reason = blockedReason(blocked)
		condition.Message = blocked.Error()
	}
	return condition
}

func blockedReason(blocked error) string {
	switch {
	case errors.Is(blocked, schedule.ErrSuspended):
		return batchv1.ReasonSuspended
	case errors.Is(blocked, schedule.ErrTooManyMissedStarts):
		return batchv1.ReasonTooManyMissedStarts
	default:
		return batchv1.ReasonInvalidSchedule
	}
}

// references leave out the resource version, which would change the status with every change of a Job.
func references(jobs []*kbatch.Job) []corev1.ObjectReference {
	var refs []corev1.ObjectReference
	for _, job := range jobs {
		refs = append(refs, corev1.ObjectReference{
			APIVersion: kbatch.SchemeGroupVersion.String(),
			Kind:       "Job",
			Namespace:  job.Namespace,
			Name:       job.Name,
			UID:        job.UID,
		})
	}
	return refs
}

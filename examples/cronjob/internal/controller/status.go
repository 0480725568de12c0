// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// observation is what a pass has seen and done.
type observation struct {
	jobs     childJobs
	table    schedule.Timetable
	blocked  error             // why nothing can start
	storage  *metav1.Condition // nil without storage
	startErr error             // why the run that was due did not start
}

// updateStatus writes what was observed, unless the status says so already, and then reports what is new.
func (r *CronJobReconciler) updateStatus(
	ctx context.Context, cronJob *batchv1.CronJob, seen observation, now time.Time,
) error {
	status := seen.status(cronJob, now)
	if err := r.writeStatus(ctx, cronJob, status); err != nil {
		return err
	}
	r.reportMissed(cronJob, seen.table.Missed)
	r.reportTrouble(cronJob, status)
	return nil
}

// writeStatus writes the status if it differs. The CronJob passed in stays as it was read. The lock matters,
// since the status remembers runs: what a pass computed from an old cache must not make it forget.
func (r *CronJobReconciler) writeStatus(ctx context.Context, cronJob *batchv1.CronJob, status batchv1.CronJobStatus) error {
	if equality.Semantic.DeepEqual(cronJob.Status, status) {
		return nil
	}
	updated := cronJob.DeepCopy()
	updated.Status = status
	patch := client.MergeFromWithOptions(cronJob, client.MergeFromWithOptimisticLock{})
	if err := r.Status().Patch(ctx, updated, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}

// status rebuilds the status from the Jobs and the timetable. Only what neither of them knows is kept.
func (o observation) status(cronJob *batchv1.CronJob, now time.Time) batchv1.CronJobStatus {
	past := o.table.Past
	past.LastRun = later(past.LastRun, o.jobs.lastRun(now))
	if !o.table.Due.IsZero() && o.startErr == nil {
		past.LastRun = o.table.Due
	}
	if errors.Is(o.startErr, errNameTaken) {
		past.LastMissed = o.table.Due
	}
	status := batchv1.CronJobStatus{
		Active:           references(o.jobs.active),
		LastScheduleTime: stamp(past.LastRun),
		LastMissedTime:   stamp(past.LastMissed),
		PlannedSchedule:  past.Schedule,
		PlannedSince:     stamp(past.Since),
		Conditions:       cronJob.DeepCopy().Status.Conditions,
	}
	for _, condition := range []*metav1.Condition{o.schedulable(), o.started(), o.storage} {
		if condition != nil {
			setCondition(&status, *condition, cronJob.Generation, now)
		}
	}
	return status
}

func setCondition(status *batchv1.CronJobStatus, condition metav1.Condition, generation int64, now time.Time) {
	condition.ObservedGeneration = generation
	condition.LastTransitionTime = metav1.NewTime(now)
	meta.SetStatusCondition(&status.Conditions, condition)
}

// schedulable reports what, if anything, keeps runs from being scheduled.
func (o observation) schedulable() *metav1.Condition {
	switch {
	case o.blocked == nil:
		return &metav1.Condition{Type: batchv1.ConditionSchedulable, Status: metav1.ConditionTrue, Reason: batchv1.ReasonScheduled}
	case errors.Is(o.blocked, schedule.ErrSuspended):
		return problem(batchv1.ConditionSchedulable, batchv1.ReasonSuspended, o.blocked)
	case errors.Is(o.blocked, schedule.ErrClockBehind):
		return problem(batchv1.ConditionSchedulable, batchv1.ReasonClockBehind, o.blocked)
	default:
		return problem(batchv1.ConditionSchedulable, batchv1.ReasonInvalidSchedule, o.blocked)
	}
}

// started reports what became of the latest run that was due; nil if this pass knows nothing new.
func (o observation) started() *metav1.Condition {
	due := o.table.Due.UTC().Format(time.RFC3339)
	switch {
	case o.table.Due.IsZero():
		return o.missed()
	case o.startErr == nil:
		return &metav1.Condition{Type: batchv1.ConditionStarted, Status: metav1.ConditionTrue, Reason: batchv1.ReasonJobCreated}
	default:
		return problem(batchv1.ConditionStarted, startReason(o.startErr), fmt.Errorf("the run of %s: %w", due, o.startErr))
	}
}

func (o observation) missed() *metav1.Condition {
	if o.table.Missed.Count == 0 {
		return nil
	}
	return &metav1.Condition{
		Type: batchv1.ConditionStarted, Status: metav1.ConditionFalse,
		Reason: missedReason(o.table.Missed.Why), Message: o.table.Missed.String(),
	}
}

func startReason(err error) string {
	switch {
	case errors.Is(err, errHeldBack):
		return batchv1.ReasonHeldBack
	case errors.Is(err, errNameTaken):
		return batchv1.ReasonJobNameTaken
	default:
		return batchv1.ReasonStartFailed
	}
}

func missedReason(why error) string {
	switch {
	case errors.Is(why, schedule.ErrTooManyMissedStarts):
		return batchv1.ReasonTooManyMissedStarts
	case errors.Is(why, schedule.ErrTooLate):
		return batchv1.ReasonMissedDeadline
	case errors.Is(why, schedule.ErrReplanned):
		return batchv1.ReasonScheduleChanged
	default:
		return batchv1.ReasonSuperseded
	}
}

// problem is a condition that is false.
func problem(kind, reason string, why error) *metav1.Condition {
	return &metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: short(why)}
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

// timeOf is the time of a status field, zero if it has none.
func timeOf(field *metav1.Time) time.Time {
	if field == nil {
		return time.Time{}
	}
	return field.Time
}

// stamp is the opposite of timeOf, in whole seconds, which is what the API keeps.
func stamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.Truncate(time.Second)}
}

// maxMessage is how long a message may be. The API server quotes what users have written, however long it is, and
// refuses an event whose note has more than 1 KB.
const maxMessage = 1000

// short is the text of an error, cut where it would not be taken.
func short(err error) string {
	text := err.Error()
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

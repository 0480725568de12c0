// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// quiet reports whether a condition's reason needs no event: the user has asked for it, or reportMissed reports it.
func quiet(reason string) bool {
	switch reason {
	case batchv1.ReasonSuspended, batchv1.ReasonHeldBack:
		return true
	case batchv1.ReasonTooManyMissedStarts, batchv1.ReasonMissedDeadline, batchv1.ReasonScheduleChanged, batchv1.ReasonSuperseded:
		return true
	}
	return false
}

// reportMissed records an event about runs that were missed.
func (r *CronJobReconciler) reportMissed(cronJob *batchv1.CronJob, missed schedule.Missed) {
	if missed.Count > 0 {
		r.warn(cronJob, missedReason(missed.Why), missed.String())
	}
}

// reportTrouble records an event for each condition that has become false, or is so for another reason.
func (r *CronJobReconciler) reportTrouble(cronJob *batchv1.CronJob, status batchv1.CronJobStatus) {
	for _, after := range status.Conditions {
		before := meta.FindStatusCondition(cronJob.Status.Conditions, after.Type)
		changed := before == nil || before.Reason != after.Reason || before.Message != after.Message
		if changed && after.Status == metav1.ConditionFalse && !quiet(after.Reason) {
			r.warn(cronJob, after.Reason, after.Message)
		}
	}
}

// warn records a warning.
func (r *CronJobReconciler) warn(cronJob *batchv1.CronJob, reason, note string) {
	r.Recorder.Eventf(cronJob, nil, corev1.EventTypeWarning, reason, "Schedule", "%s", note)
}

// Copyright 2026 The mycronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "wzj.kubebuilder.io/project/api/v1"
)

// report writes the status, if it differs from the one before, and records an event when trouble begins.
func (r *MyCronJobReconciler) report(ctx context.Context, before, myCronJob *batchv1.MyCronJob, startErr error) error {
	c := starting(myCronJob, startErr)
	meta.SetStatusCondition(&myCronJob.Status.Conditions, c)
	if equality.Semantic.DeepEqual(before.Status, myCronJob.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, myCronJob, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	if last := meta.FindStatusCondition(before.Status.Conditions, c.Type); startErr != nil && (last == nil || last.Reason != c.Reason) {
		r.Recorder.Eventf(myCronJob, nil, corev1.EventTypeWarning, c.Reason, "Start", "%s", c.Message)
	}
	return nil
}

// starting is the condition of that name.
func starting(myCronJob *batchv1.MyCronJob, startErr error) metav1.Condition {
	c := metav1.Condition{Type: batchv1.ConditionStarting, Status: metav1.ConditionFalse, ObservedGeneration: myCronJob.Generation}
	switch {
	case startErr == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, batchv1.ReasonOnTime, "A Job starts every 5 seconds."
	case errors.Is(startErr, errTooMany):
		c.Reason = batchv1.ReasonTooManyUnfinished
		c.Message = fmt.Sprintf("%d Jobs have not finished. The next one starts after one of them has.", maxUnfinished)
	case errors.Is(startErr, errTaken):
		c.Reason, c.Message = batchv1.ReasonNameTaken, short(startErr)
	default:
		c.Reason, c.Message = batchv1.ReasonStartFailed, short(startErr)
	}
	return c
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

// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "example.com/toy/api/v1"
)

// report writes the status, if it differs.
func (r *CustomSetReconciler) report(ctx context.Context, set *batchv1.CustomSet, p plan, refused string) error {
	before := set.DeepCopy()
	status := &set.Status
	status.Selector = labels.Set(marks(set.Name)).String()
	status.Replicas, status.ReadyReplicas = int32(len(p.alive)), 0
	for _, pod := range p.alive {
		if ready(pod) {
			status.ReadyReplicas++
		}
	}
	meta.SetStatusCondition(&status.Conditions, available(set, p, refused))
	if equality.Semantic.DeepEqual(before.Status, set.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, set, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// available is the condition of that name.
func available(set *batchv1.CustomSet, p plan, refused string) metav1.Condition {
	c := metav1.Condition{Type: batchv1.ConditionAvailable, Status: metav1.ConditionFalse, ObservedGeneration: set.Generation}
	want, leaving := *set.Spec.Replicas, len(p.surplus)+p.leaving
	switch {
	case len(p.taken) > 0:
		c.Reason = batchv1.ReasonNameTaken
		c.Message = fmt.Sprintf("Pods of these names belong to something else: %s. Delete them, or give the CustomSet another name.", strings.Join(p.taken, ", "))
	case refused != "":
		c.Reason, c.Message = batchv1.ReasonRefused, refused
	case set.Status.ReadyReplicas != want || leaving > 0:
		c.Reason = batchv1.ReasonScaling
		c.Message = fmt.Sprintf("%d of %d pods are ready, and %d more are stopping.", set.Status.ReadyReplicas, want, leaving)
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, batchv1.ReasonReady, "All pods are ready."
	}
	return c
}

// maxMessage is how long a message may be. The API server quotes what users have written, however long it is.
const maxMessage = 1000

// refusal is the API server's answer when it does not take what is written, for example because of a quota or a policy;
// empty for errors that go by themselves.
func refusal(err error) string {
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		return ""
	}
	text := err.Error()
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

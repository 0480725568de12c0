// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	examplev1 "example.com/democrd/api/v1"
)

// report writes the condition, if it differs, and an event about a new trouble.
func (r *DemoReconciler) report(ctx context.Context, demo *examplev1.Demo, failed error) error {
	before := demo.DeepCopy()
	c := registered(demo, failed)
	if !meta.SetStatusCondition(&demo.Status.Conditions, c) {
		return nil
	}
	if failed != nil {
		r.Recorder.Eventf(demo, nil, corev1.EventTypeWarning, c.Reason, "Reconcile", "%s", c.Message)
	}
	if err := r.Status().Patch(ctx, demo, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// registered is the condition of that name.
func registered(demo *examplev1.Demo, failed error) metav1.Condition {
	c := metav1.Condition{Type: examplev1.ConditionRegistered, ObservedGeneration: demo.Generation}
	switch {
	case failed == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, examplev1.ReasonRegistered, "The entry in the registry is there."
	case demo.DeletionTimestamp != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, examplev1.ReasonCleanupFailed, short(failed)
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, examplev1.ReasonRegistryFailed, short(failed)
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

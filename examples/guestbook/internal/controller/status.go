// Copyright 2026 The guestbook authors
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
	"sigs.k8s.io/controller-runtime/pkg/client"

	webappv1 "example.com/guestbook/api/v1"
)

// report writes the status, if it differs.
func (r *GuestbookReconciler) report(ctx context.Context, guestbook *webappv1.Guestbook, seen observation) error {
	before := guestbook.DeepCopy()
	status := &guestbook.Status
	status.Active, status.Standby = "", nil
	if names := ready(seen.pods); len(names) > 0 {
		status.Active, status.Standby = names[0], names[1:]
	}
	meta.SetStatusCondition(&status.Conditions, available(guestbook, seen))
	if equality.Semantic.DeepEqual(before.Status, guestbook.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, guestbook, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// available is the condition of that name.
func available(guestbook *webappv1.Guestbook, seen observation) metav1.Condition {
	c := metav1.Condition{Type: webappv1.ConditionAvailable, Status: metav1.ConditionFalse, ObservedGeneration: guestbook.Generation}
	n, size := len(ready(seen.pods)), int(guestbook.Spec.Size)
	switch {
	case !seen.configured:
		c.Reason = webappv1.ReasonConfigMissing
		c.Message = fmt.Sprintf("There is no ConfigMap %s. Create it, or name another one in spec.configMapName.", guestbook.Spec.ConfigMapName)
	case seen.taken:
		c.Reason = webappv1.ReasonNameTaken
		c.Message = fmt.Sprintf("There is a StatefulSet %s that belongs to something else. Delete it, or give the Guestbook another name.", guestbook.Name)
	case seen.refusal != "":
		c.Reason, c.Message = webappv1.ReasonRefused, seen.refusal
	case n != size || n != len(seen.pods):
		c.Reason, c.Message = webappv1.ReasonStarting, fmt.Sprintf("%d of %d instances are ready.", n, size)
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, webappv1.ReasonReady, "All instances are ready."
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

// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ingressv1beta1 "example.com/app/api/v1beta1"
)

// observation is what one pass finds.
type observation struct {
	deployment *appsv1.Deployment
	taken      []string // the kinds of parts whose names something else uses
	err        error    // why parts are not up to date
}

// report writes the status, if it differs.
func (r *AppReconciler) report(ctx context.Context, app *ingressv1beta1.App, seen observation) error {
	before := app.DeepCopy()
	status := &app.Status
	status.ReadyReplicas, status.Host = 0, ""
	if metav1.IsControlledBy(seen.deployment, app) {
		status.ReadyReplicas = seen.deployment.Status.ReadyReplicas
	}
	if app.Spec.WantsIngress() {
		status.Host = host(app)
	}
	meta.SetStatusCondition(&status.Conditions, available(app, seen))
	if equality.Semantic.DeepEqual(before.Status, app.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, app, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// available is the condition of that name.
func available(app *ingressv1beta1.App, seen observation) metav1.Condition {
	c := metav1.Condition{Type: ingressv1beta1.ConditionAvailable, Status: metav1.ConditionFalse, ObservedGeneration: app.Generation}
	switch {
	case len(seen.taken) > 0:
		c.Reason = ingressv1beta1.ReasonNameTaken
		c.Message = fmt.Sprintf("There is an object %s that belongs to something else, of kind %s. Delete it, or give the App another name.",
			app.Name, strings.Join(seen.taken, " and "))
	case seen.err != nil:
		c.Reason, c.Message = ingressv1beta1.ReasonFailed, short(seen.err)
	case !isRolledOut(seen.deployment):
		c.Reason = ingressv1beta1.ReasonStarting
		c.Message = fmt.Sprintf("%d of %d pods are ready.", seen.deployment.Status.ReadyReplicas, app.Spec.Replicas)
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, ingressv1beta1.ReasonReady, "All pods are ready."
	}
	return c
}

// isRolledOut reports whether a Deployment has as many pods as it should, and all of them are new and available.
func isRolledOut(deployment *appsv1.Deployment) bool {
	s, want := deployment.Status, deployment.Spec.Replicas
	return want != nil && s.ObservedGeneration == deployment.Generation && deployment.Generation > 0 &&
		s.Replicas == *want && s.UpdatedReplicas == *want && s.AvailableReplicas == *want
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

// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "example.com/fleet/api/fleet/v1"
)

// report writes the status if it differs, and an event if the member has come or gone.
func (r *ClusterReconciler) report(ctx context.Context, cluster *fleetv1.Cluster, seen observation) error {
	if connecting(seen) && isReported(cluster) {
		return nil
	}
	before := cluster.DeepCopy()
	status := &cluster.Status
	status.Instances, status.KubeconfigHash = nil, ""
	if seen.Engaged {
		status.Instances, status.KubeconfigHash = &seen.Instances, seen.hash
	}
	condition := ready(cluster, seen)
	meta.SetStatusCondition(&status.Conditions, condition)
	if equality.Semantic.DeepEqual(before.Status, cluster.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, cluster, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	if was := meta.FindStatusCondition(before.Status.Conditions, fleetv1.ConditionReady); was == nil || was.Reason != condition.Reason {
		r.record(cluster, condition)
	}
	return nil
}

// connecting reports whether the member has not been reached yet, by this connection.
func connecting(seen observation) bool { return !seen.Engaged && seen.Problem == nil }

// isReported reports whether there is a condition for the Cluster as it is now specified. It stays while a new
// operator, or one with new credentials, connects: members that are well do not blink when the operator is restarted.
func isReported(cluster *fleetv1.Cluster) bool {
	c := meta.FindStatusCondition(cluster.Status.Conditions, fleetv1.ConditionReady)
	return c != nil && c.ObservedGeneration == cluster.Generation
}

// record makes an event of a condition.
func (r *ClusterReconciler) record(cluster *fleetv1.Cluster, c metav1.Condition) {
	kind := corev1.EventTypeNormal
	if c.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(cluster, nil, kind, c.Reason, "Engage", "%s", c.Message)
}

// ready is the condition of that name.
func ready(cluster *fleetv1.Cluster, seen observation) metav1.Condition {
	c := metav1.Condition{Type: fleetv1.ConditionReady, ObservedGeneration: cluster.Generation}
	switch {
	case seen.Engaged:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, fleetv1.ReasonEngaged, "The member is watched."
	case seen.Problem != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, seen.Problem.Reason, seen.Problem.Message
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, fleetv1.ReasonConnecting, "The first attempt is under way."
	}
	return c
}

// Copyright 2026 The rediscluster authors
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

	redisv1 "example.com/rediscluster/api/v1"
)

// report writes the status, if it differs.
func (r *RedisClusterReconciler) report(ctx context.Context, cluster *redisv1.RedisCluster, seen observation, c metav1.Condition) error {
	before := cluster.DeepCopy()
	cluster.Status.Ready = int32(ready(seen.pods))
	c.Type, c.ObservedGeneration = redisv1.ConditionAvailable, cluster.Generation
	meta.SetStatusCondition(&cluster.Status.Conditions, c)
	if equality.Semantic.DeepEqual(before.Status, cluster.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, cluster, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// available is the condition of that name, as it was before the plan.
func available(cluster *redisv1.RedisCluster, seen observation, p plan, refused string) metav1.Condition {
	c := metav1.Condition{Status: metav1.ConditionFalse}
	n, size := ready(seen.pods), int(cluster.Spec.Size)
	switch {
	case len(seen.taken) > 0:
		c.Reason = redisv1.ReasonNameTaken
		c.Message = fmt.Sprintf("Pods of something else have the names %s. Delete them, or give the RedisCluster another name.", strings.Join(seen.taken, ", "))
	case refused != "":
		c.Reason, c.Message = redisv1.ReasonRefused, refused
	case n != size || n != len(seen.pods) || len(p.stop) > 0:
		c.Reason, c.Message = redisv1.ReasonChanging, fmt.Sprintf("%d of %d instances are ready.", n, size)
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, redisv1.ReasonReady, "All instances are ready."
	}
	return c
}

// badAddr is the condition of a RedisCluster that was stored without the webhook.
func badAddr(err error) metav1.Condition {
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: redisv1.ReasonBadAddr, Message: fmt.Sprintf("spec.addr must be ip:port: %v.", err)}
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

// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "example.com/toy/api/v1"
)

// image is what the pods run: a program that does nothing.
const image = "registry.k8s.io/pause:3.10"

// marks are the labels of the pods of a CustomSet. They are also the selector in its status.
func marks(set string) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": set, "app.kubernetes.io/managed-by": "customset-controller"}
}

// describe is pod n of a CustomSet. Its name follows from the set and the number, so that the same pod is never made
// twice.
func describe(set *batchv1.CustomSet, n int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: fmt.Sprintf("%s-%d", set.Name, n), Labels: marks(set.Name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
}

// parse takes the name of a pod apart.
func parse(pod string) (set string, n int, ok bool) {
	i := strings.LastIndexByte(pod, '-')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(pod[i+1:])
	return pod[:i], n, err == nil && pod[i+1:] == strconv.Itoa(n)
}

// plan is what differs between the pods that are wanted and those that are there.
type plan struct {
	alive   []corev1.Pod // the set's, that stay
	surplus []corev1.Pod // the set's, that go: too many, or finished, for example evicted
	missing []int        // numbers without a pod
	taken   []string     // needed names that pods of something else have
	leaving int          // the set's that are being deleted
}

// compare compares a CustomSet with the pods whose names begin with its own.
func compare(set *batchv1.CustomSet, pods []corev1.Pod) (p plan) {
	replicas := int(*set.Spec.Replicas)
	used := make([]bool, replicas)
	for _, pod := range pods {
		_, n, _ := parse(pod.Name)
		wanted := n < replicas
		if wanted {
			used[n] = true
		}
		p.sort(pod, wanted, metav1.IsControlledBy(&pod, set))
	}
	for n, is := range used {
		if !is {
			p.missing = append(p.missing, n)
		}
	}
	return p
}

// sort puts one pod where it belongs.
func (p *plan) sort(pod corev1.Pod, wanted, own bool) {
	switch {
	case !own:
		if wanted {
			p.taken = append(p.taken, pod.Name)
		}
	case pod.DeletionTimestamp != nil:
		p.leaving++
	case !wanted || finished(&pod):
		p.surplus = append(p.surplus, pod)
	default:
		p.alive = append(p.alive, pod)
	}
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func ready(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// matters lets those changes of pods through that change what compare finds, or the status. A pod's status changes
// often.
func matters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Pod)
		after, same := e.ObjectNew.(*corev1.Pod)
		return !ok || !same || ready(*before) != ready(*after) || finished(before) != finished(after) ||
			(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
	}}
}

// setOf returns the CustomSet that a pod's name begins with.
func setOf(_ context.Context, pod client.Object) []reconcile.Request {
	set, _, ok := parse(pod.GetName())
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: set}}}
}

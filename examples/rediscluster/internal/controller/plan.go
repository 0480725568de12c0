// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	redisv1 "example.com/rediscluster/api/v1"
)

// A plan is what one pass does.
type plan struct {
	start []*corev1.Pod
	stop  []*corev1.Pod
}

// newPlan compares the instances that a RedisCluster asks for with those that are there.
func newPlan(cluster *redisv1.RedisCluster, addr netip.AddrPort, seen observation) (p plan) {
	size := int(cluster.Spec.Size)
	there := map[string]*corev1.Pod{}
	for i := range seen.pods {
		pod := &seen.pods[i]
		there[pod.Name] = pod
		_, n, ok := number(pod.Name)
		if surplus := !ok || n >= size; pod.DeletionTimestamp == nil && (surplus || isOver(pod)) {
			p.stop = append(p.stop, pod)
		}
	}
	var old []*corev1.Pod
	for i := range size {
		want := newPod(cluster, addr, i)
		pod := there[want.Name]
		switch {
		case pod == nil && !slices.Contains(seen.taken, want.Name):
			p.start = append(p.start, want)
		case pod != nil && pod.DeletionTimestamp == nil && !isOver(pod) && differs(pod, want):
			old = append(old, pod)
		}
	}
	p.stop = append(p.stop, replaceable(old, ready(seen.pods) >= size)...)
	return p
}

// replaceable chooses from the pods of an older spec those that may go now: all that are not ready, since they are of
// no use, and one of the others when no instance is missing. So a spec with which nothing starts stops one instance,
// not all.
func replaceable(old []*corev1.Pod, complete bool) []*corev1.Pod {
	idle := slices.DeleteFunc(slices.Clone(old), isReady)
	if len(idle) == 0 && len(old) > 0 && complete {
		return old[len(old)-1:]
	}
	return idle
}

// ready counts the pods that are ready.
func ready(pods []corev1.Pod) (n int) {
	for i := range pods {
		if isReady(&pods[i]) {
			n++
		}
	}
	return n
}

// concernsPlan lets those changes of pods through that a plan looks at. A pod's status changes often.
func concernsPlan() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Pod)
		after, same := e.ObjectNew.(*corev1.Pod)
		return !ok || !same || !look(before).equal(look(after))
	}}
}

// A view is what plans look at in a pod.
type view struct {
	ready, over, leaving bool
	startedWith          string
	owners               []types.UID
	labels               map[string]string
}

func look(pod *corev1.Pod) view {
	v := view{isReady(pod), isOver(pod), pod.DeletionTimestamp != nil, pod.Annotations[startedWith], nil, pod.Labels}
	for _, owner := range pod.OwnerReferences {
		v.owners = append(v.owners, owner.UID)
	}
	return v
}

func (v view) equal(w view) bool {
	return v.ready == w.ready && v.over == w.over && v.leaving == w.leaving && v.startedWith == w.startedWith &&
		slices.Equal(v.owners, w.owners) && maps.Equal(v.labels, w.labels)
}

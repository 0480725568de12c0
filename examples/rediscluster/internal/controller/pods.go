// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	redisv1 "example.com/rediscluster/api/v1"
)

// redisUser is the user redis of Redis' own images.
const redisUser = 999

// startedWith is the annotation of a pod that says what of the spec it was started with.
const startedWith = "bytewang123-redis.wzj.kubebuilder.io/started-with"

// podName is the name of an instance. It follows from its number, so that creating it twice fails.
func podName(cluster string, number int) string { return cluster + "-" + strconv.Itoa(number) }

// number is that of the instance which a pod's name makes it, and the RedisCluster's name; ok is false for other names.
func number(pod string) (cluster string, n int, ok bool) {
	i := strings.LastIndexByte(pod, '-')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(pod[i+1:])
	return pod[:i], n, err == nil && pod == podName(pod[:i], n)
}

// clusterOf returns the RedisCluster which the name of a pod fits. The cache need not have one.
func clusterOf(_ context.Context, pod client.Object) []reconcile.Request {
	name, _, ok := number(pod.GetName())
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

// newPod is what an instance looks like.
func newPod(cluster *redisv1.RedisCluster, addr netip.AddrPort, number int) *corev1.Pod {
	port := int32(addr.Port())
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   cluster.Namespace,
			Name:        podName(cluster.Name, number),
			Labels:      map[string]string{"app": "redis", "app.kubernetes.io/instance": cluster.Name},
			Annotations: map[string]string{startedWith: cluster.Spec.Image + " at " + addr.String()},
		},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				RunAsUser:      new(int64(redisUser)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:  "redis",
				Image: cluster.Spec.Image,
				// Without a password, Redis answers pods other than its own only when its protection is off.
				Args:  []string{"--bind", addr.Addr().String(), "--port", strconv.Itoa(int(port)), "--protected-mode", "no"},
				Ports: []corev1.ContainerPort{{Name: "redis", ContainerPort: port}},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 2, ProbeHandler: corev1.ProbeHandler{
					TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)},
				}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// differs finds a pod that was made from another spec, or has lost its labels. Containers are not compared: what
// webhooks of the cluster change in them, or add, would have pods replaced for ever.
func differs(pod, want *corev1.Pod) bool {
	return pod.Annotations[startedWith] != want.Annotations[startedWith] ||
		slices.ContainsFunc(slices.Collect(maps.Keys(want.Labels)), func(key string) bool { return pod.Labels[key] != want.Labels[key] })
}

func isReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// isOver finds a pod that will not run again, for example since its node was drained.
func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Copyright 2026 The guestbook authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	webappv1 "example.com/guestbook/api/v1"
)

// image is what instances run: a program that does nothing stands for a guestbook.
const image = "registry.k8s.io/pause:3.10"

// These labels mark what belongs to a Guestbook.
const (
	instanceLabel  = "app.kubernetes.io/instance"
	managedByLabel = "app.kubernetes.io/managed-by"
	managedBy      = "guestbook-controller"
)

func labels(guestbook string) map[string]string {
	return map[string]string{instanceLabel: guestbook, managedByLabel: managedBy}
}

// describe writes into a StatefulSet what a Guestbook asks for. It touches no field that it has no opinion about, so
// that what the API server fills in is no difference, and sets what cannot be changed later only in a new one.
func describe(guestbook *webappv1.Guestbook, set *appsv1.StatefulSet) {
	if set.ResourceVersion == "" {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels(guestbook.Name)}
		set.Spec.ServiceName = guestbook.Name
		set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	}
	set.Spec.Replicas = &guestbook.Spec.Size
	template := &set.Spec.Template
	template.Labels = labels(guestbook.Name)
	if len(template.Spec.Containers) == 0 {
		template.Spec.Containers = []corev1.Container{{Name: "guestbook"}}
	}
	c := &template.Spec.Containers[0]
	c.Image = image
	c.Env = []corev1.EnvVar{{Name: "ALIAS", Value: string(guestbook.Spec.Alias)}}
	c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: guestbook.Spec.ConfigMapName}}}}
}

// isInstance reports whether a pod belongs to the StatefulSet of a Guestbook. All who may edit pods may set labels: the
// selector alone would count their pods, too.
func isInstance(pod *corev1.Pod, guestbook *webappv1.Guestbook) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.APIVersion == appsv1.SchemeGroupVersion.String() && owner.Kind == "StatefulSet" && owner.Name == guestbook.Name
}

// ready returns the names of the pods that are ready, by their number.
func ready(pods []corev1.Pod) []string {
	var names []string
	for i := range pods {
		if isReady(&pods[i]) {
			names = append(names, pods[i].Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	return names
}

// number is that of a StatefulSet's pod, which its name ends in.
func number(pod string) int {
	n, err := strconv.Atoi(pod[strings.LastIndexByte(pod, '-')+1:])
	if err != nil {
		return -1 // no StatefulSet has named it
	}
	return n
}

func isReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

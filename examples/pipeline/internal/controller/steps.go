// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

const (
	servicePort   = 80        // of all steps' Services
	containerPort = 8080      // of steps without args.listenPort
	modelsPath    = "/models" // where the share is in containers
	modelsVolume  = "models"
)

// labels are on all parts of a Pipeline.
func labels(pipeline *distriinferv1beta1.Pipeline) map[string]string {
	return map[string]string{"pipeline": pipeline.Name}
}

// stepLabels are on the pods of a step. They have its name and not its number, since a Deployment's selector is fixed
// and steps may change places.
func stepLabels(pipeline *distriinferv1beta1.Pipeline, step *distriinferv1beta1.Step) map[string]string {
	return merged(labels(pipeline), map[string]string{"step": step.Model})
}

// merged adds labels to those that others have set.
func merged(set, more map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, set)
	maps.Copy(all, more)
	return all
}

func hasStep(pipeline *distriinferv1beta1.Pipeline, model string) bool {
	return slices.ContainsFunc(pipeline.Spec.Steps, func(s distriinferv1beta1.Step) bool { return s.Model == model })
}

func newDeployment(pipeline *distriinferv1beta1.Pipeline, step *distriinferv1beta1.Step) *part {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: pipeline.Spec.Namespace, Name: step.Model}}
	return &part{
		Object:   deployment,
		describe: func() { describeDeployment(pipeline, step, deployment) },
		phase:    func() distriinferv1beta1.Phase { return deploymentPhase(deployment) },
	}
}

// describeDeployment touches no field that it has no opinion about, so that what the API server fills in is no
// difference. The number of pods is left to kubectl scale.
func describeDeployment(pipeline *distriinferv1beta1.Pipeline, step *distriinferv1beta1.Step, deployment *appsv1.Deployment) {
	if deployment.ResourceVersion == "" {
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: stepLabels(pipeline, step)}
	}
	template := &deployment.Spec.Template
	template.Labels = merged(template.Labels, stepLabels(pipeline, step))
	// A selector and no nodeName, which would pass by the scheduler and so by taints and resources.
	template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: step.Location}
	template.Spec.Volumes = []corev1.Volume{{Name: modelsVolume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: storageName(pipeline)}}}}
	if len(template.Spec.Containers) == 0 {
		template.Spec.Containers = []corev1.Container{{Name: "step"}}
	}
	c := &template.Spec.Containers[0]
	c.Image = step.Image
	c.Args = arguments(step)
	c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: listenPort(step), Protocol: corev1.ProtocolTCP}}
	c.VolumeMounts = []corev1.VolumeMount{{Name: modelsVolume, MountPath: modelsPath, ReadOnly: true}}
}

// arguments are in the order of their names. A map has none, and each other order would be a change of the Deployment.
func arguments(step *distriinferv1beta1.Step) (args []string) {
	for _, name := range slices.Sorted(maps.Keys(step.Args)) {
		args = append(args, fmt.Sprintf("--%s=%s", name, step.Args[name]))
	}
	return args
}

// listenPort is where a step's program listens. The schema has seen to it that it is a number.
func listenPort(step *distriinferv1beta1.Step) int32 {
	port, err := strconv.ParseInt(string(step.Args["listenPort"]), 10, 32)
	if err != nil {
		return containerPort
	}
	return int32(port)
}

// deploymentPhase is Failed after the time that a Deployment gives its pods to start, ten minutes.
func deploymentPhase(d *appsv1.Deployment) distriinferv1beta1.Phase {
	s := d.Status
	if d.Generation > 0 && s.ObservedGeneration == d.Generation {
		if d.Spec.Replicas != nil && s.Replicas == *d.Spec.Replicas && s.UpdatedReplicas == s.Replicas && s.AvailableReplicas == s.Replicas {
			return distriinferv1beta1.PhaseRunning
		}
		if slices.ContainsFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
		}) {
			return distriinferv1beta1.PhaseFailed
		}
	}
	return distriinferv1beta1.PhaseCreating
}

func newService(pipeline *distriinferv1beta1.Pipeline, step *distriinferv1beta1.Step) *part {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: pipeline.Spec.Namespace, Name: step.Model}}
	describe := func() {
		service.Spec.Selector = stepLabels(pipeline, step)
		service.Spec.Ports = []corev1.ServicePort{{
			Name: "http", Port: servicePort, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(listenPort(step))}}
	}
	return &part{Object: service, describe: describe, phase: func() distriinferv1beta1.Phase {
		if service.Spec.ClusterIP == "" {
			return distriinferv1beta1.PhaseCreating
		}
		return distriinferv1beta1.PhaseRunning
	}}
}

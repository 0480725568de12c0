package plain_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/realnode/plain"
)

// TestAdapt: what is left out is told once, and the pod that was given stays as it is.
func TestAdapt(t *testing.T) {
	told := map[string][]string{}
	pods := plain.Pods{Report: func(pod *corev1.Pod, left string) { told[pod.Name] = append(told[pod.Name], left) }}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		HostNetwork:     true,
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true), FSGroup: new(int64(1))},
		Containers: []corev1.Container{{
			Resources:       corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Mi")}},
			SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(1)), Privileged: new(true), ReadOnlyRootFilesystem: new(true)},
		}},
	}}
	pod.Name, pod.UID = "much", "1"
	usual := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}
	usual.Name, usual.UID = "nothing", "2"
	var adapted []*corev1.Pod
	for range 2 {
		adapted = pods.Adapt([]*corev1.Pod{pod, usual})
	}
	const want = "fsGroup, hostNetwork (which all pods have), limits, readOnlyRootFilesystem, runAsNonRoot, runAsUser"
	if len(told) != 1 || len(told["much"]) != 1 || told["much"][0] != want {
		t.Errorf("told %q", told)
	}
	if s := adapted[0].Spec; s.HostNetwork || s.SecurityContext.FSGroup != nil || s.Containers[0].SecurityContext.RunAsUser != nil {
		t.Errorf("it asks for %+v", s)
	}
	if !*adapted[0].Spec.Containers[0].SecurityContext.Privileged {
		t.Error("nobody would refuse it")
	}
	if !pod.Spec.HostNetwork || pod.Spec.Containers[0].SecurityContext.RunAsUser == nil {
		t.Error("the pod that was given has changed")
	}
}

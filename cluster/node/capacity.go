package node

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Advertised are the amounts that a node has for the scheduler. By default they are larger than any machine on purpose:
// what a simulated pod requests costs nothing, and on a developer's machine requests are not to keep pods waiting.
func (s Spec) Advertised() corev1.ResourceList {
	amounts := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("1000"),
	}
	maps.Copy(amounts, s.Capacity)
	return amounts
}

package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestAdvertised: amounts that are given win, others are large, and further resources are added.
func TestAdvertised(t *testing.T) {
	s := Spec{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m"), "example.com/gpu": resource.MustParse("1")}}
	got := s.Advertised()
	for name, want := range map[corev1.ResourceName]string{
		corev1.ResourceCPU: "1500m", corev1.ResourceMemory: "256Gi", corev1.ResourceEphemeralStorage: "1Ti", corev1.ResourcePods: "1k", "example.com/gpu": "1",
	} {
		if amount := got[name]; amount.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("%s: %s, want %s", name, amount.String(), want)
		}
	}
	if len(s.Capacity) != 2 {
		t.Errorf("the given amounts are now %v", s.Capacity)
	}
}

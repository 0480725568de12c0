package engine

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestImagesOf(t *testing.T) {
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{
			InitContainers:      []corev1.Container{{Image: "init"}},
			Containers:          []corev1.Container{{Image: "main"}},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Image: "debug"}}},
			Volumes:             []corev1.Volume{{}, {VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "volume"}}}},
		},
		Status: corev1.PodStatus{
			InitContainerStatuses:      []corev1.ContainerStatus{{ImageID: "init@1"}},
			ContainerStatuses:          []corev1.ContainerStatus{{ImageID: "main@2"}},
			EphemeralContainerStatuses: []corev1.ContainerStatus{{ImageID: "debug@3"}},
		},
	}
	got := imagesOf(pod)
	slices.Sort(got)
	if want := []string{"debug", "debug@3", "init", "init@1", "main", "main@2", "volume"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

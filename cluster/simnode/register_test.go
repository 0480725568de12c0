package simnode

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An unchanged status is not written; a changed one goes to that very pod.
func TestStatusPatch(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	if patch, err := statusPatch(pod, *pod.Status.DeepCopy()); err != nil || patch != nil {
		t.Errorf("unchanged: %s, %v", patch, err)
	}
	patch, err := statusPatch(pod, corev1.PodStatus{Phase: corev1.PodRunning})
	if want := `{"metadata":{"uid":"u"},"status":{"phase":"Running"}}`; err != nil || string(patch) != want {
		t.Errorf("%s, %v; want %s", patch, err, want)
	}
}

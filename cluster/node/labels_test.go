package node

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOnlyOwnNodesAreRemoved(t *testing.T) {
	simulated := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{SimulatedLabel: "true"}}}
	real := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{RealLabel: "true"}}}
	existing := map[string]*corev1.Node{"named": simulated, "dropped": simulated, "real": real, "elsewhere": real, "foreign": {}}
	if got := Unnamed([]Spec{{Name: "named"}}, []string{"elsewhere"}, existing); !slices.Equal(got, []string{"dropped", "real"}) {
		t.Errorf("to be removed: %v", got)
	}
}

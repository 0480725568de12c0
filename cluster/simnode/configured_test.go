package simnode

import (
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/node"
)

// What was dropped from the configuration goes, what others changed stays, what the configuration changes comes.
func TestConfigurationMeetsEdits(t *testing.T) {
	gpu := node.Taint{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}
	dropped := node.Taint{Key: "dropped", Effect: corev1.TaintEffectNoSchedule}
	removed := node.Taint{Key: "removed", Effect: corev1.TaintEffectNoSchedule}
	users := corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}
	first := node.Spec{
		Name: "n", Taints: []node.Taint{gpu, dropped, removed},
		Labels:   map[string]string{"zone": "a", "dropped": "x", "edited": "x", "removed": "x"},
		Capacity: corev1.ResourceList{"example.com/gpu": resource.MustParse("4"), "example.com/dropped": resource.MustParse("1")},
	}
	n := wanted(t, first)
	n.Labels["edited"], n.Labels["added"] = "y", "y"
	delete(n.Labels, "removed")
	n.Spec.Taints = []corev1.Taint{corev1.Taint(gpu), corev1.Taint(dropped), users, {Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
	n.Status.Capacity["example.com/theirs"] = resource.MustParse("7")

	second := first
	second.Taints = []node.Taint{{Key: "dedicated", Value: "tpu", Effect: corev1.TaintEffectNoSchedule}, removed}
	second.Labels = map[string]string{"zone": "b", "edited": "x", "removed": "x", "new": "x"}
	second.Capacity = corev1.ResourceList{"example.com/gpu": resource.MustParse("8")}
	got := configured(n, wanted(t, second), second)

	labels := baseLabels("n")
	maps.Copy(labels, map[string]string{"zone": "b", "edited": "y", "added": "y", "new": "x"})
	if !maps.Equal(got.Labels, labels) {
		t.Errorf("labels %v, want %v", got.Labels, labels)
	}
	if want := []corev1.Taint{users, corev1.Taint(second.Taints[0])}; !slices.Equal(got.Spec.Taints, want) {
		t.Errorf("taints %v, want %v", got.Spec.Taints, want)
	}
	status := configuredStatus(n, wanted(t, second))
	for name, amount := range map[corev1.ResourceName]int64{"example.com/gpu": 8, "example.com/theirs": 7, "example.com/dropped": 0, "pods": 1000} {
		if q := status.Capacity[name]; q.Value() != amount {
			t.Errorf("capacity of %s: %s, want %d", name, &q, amount)
		}
	}
	if again := configured(got, wanted(t, second), second); !maps.Equal(again.Labels, got.Labels) || !slices.Equal(again.Spec.Taints, got.Spec.Taints) {
		t.Errorf("the second time: %v, %v", again.Labels, again.Spec.Taints)
	}
}

func wanted(t *testing.T, spec node.Spec) *corev1.Node {
	t.Helper()
	n, err := object(spec, 0, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

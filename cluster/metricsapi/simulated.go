package metricsapi

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// simulatedWindow is the time over which simulated figures count as measured. The autoscaler ignores what was measured
// before a pod was ready, so a short one lets it go on at once.
const simulatedWindow = time.Second

// simulatedPod is what the containers of a pod use that are taken for running; false for none.
func simulatedPod(p *corev1.Pod, now time.Time) (metrics.PodMetrics, bool) {
	plan, _ := stage.PlanFor(p) // its node reports the problems, in an Event
	m := metrics.PodMetrics{Timestamp: metav1.NewTime(now), Window: metav1.Duration{Duration: simulatedWindow}}
	running := map[string]bool{}
	for _, s := range slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses) {
		running[s.Name] = s.State.Running != nil
	}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			if c := &list[i]; running[c.Name] {
				m.Containers = append(m.Containers, metrics.ContainerMetrics{Name: c.Name, Usage: plan.Usage(c)})
			}
		}
	}
	slices.SortFunc(m.Containers, byName)
	return m, len(m.Containers) > 0
}

// nothing is what a simulated node without pods uses.
func nothing() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(0, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(0, resource.BinarySI),
	}
}

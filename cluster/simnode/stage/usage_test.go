package stage_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// requesting is a pod whose container main requests so much; "" for nothing.
func requesting(cpu, memory string, annotations ...string) *corev1.Pod {
	p := with(pod(corev1.RestartPolicyAlways), annotated(annotations...))
	list := corev1.ResourceList{}
	for name, amount := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if amount != "" {
			list[name] = resource.MustParse(amount)
		}
	}
	p.Spec.Containers[0].Resources.Requests = list
	return p
}

// TestUsage: what a container uses, and which annotations are not followed.
func TestUsage(t *testing.T) {
	const cpu, memory = "slipway.dev/cpu-usage", "slipway.dev/memory-usage"
	for name, test := range map[string]struct {
		pod         *corev1.Pod
		cpu, memory string
		problem     string // part of the only one
	}{
		"a tenth of the requests":          {pod: requesting("500m", "64Mi"), cpu: "50m", memory: "6710886"},
		"a little without requests":        {pod: requesting("", ""), cpu: "1m", memory: "10Mi"},
		"quantities":                       {pod: requesting("", "", cpu, "250m", memory, "64Mi"), cpu: "250m", memory: "64Mi"},
		"shares":                           {pod: requesting("500m", "64Mi", cpu, "90%", memory, "150%"), cpu: "450m", memory: "96Mi"},
		"a share of a large request":       {pod: requesting("1000", "1Ti", cpu, "1000%", memory, "1000%"), cpu: "10k", memory: "1Ti"},
		"nothing":                          {pod: requesting("500m", "64Mi", cpu, "0", memory, "0%"), cpu: "0", memory: "0"},
		"the container's own":              {pod: requesting("1", "", cpu, "10%", "main.slipway.dev/cpu-usage", "20%"), cpu: "200m", memory: "10Mi"},
		"a share of nothing":               {pod: requesting("", "64Mi", cpu, "90%"), cpu: "1m", memory: "6710886", problem: "expected a quantity, since no cpu is requested by main"},
		"a word":                           {pod: requesting("1", "", cpu, "much"), cpu: "100m", memory: "10Mi", problem: cpu + `="much" is ignored: expected a quantity`},
		"less than nothing":                {pod: requesting("1", "", cpu, "-1"), cpu: "100m", memory: "10Mi", problem: "is ignored"},
		"a share of less than nothing":     {pod: requesting("1", "", cpu, "-1%"), cpu: "100m", memory: "10Mi", problem: "is ignored"},
		"too large a share":                {pod: requesting("1", "", cpu, "1001%"), cpu: "100m", memory: "10Mi", problem: "is ignored"},
		"more than any machine has":        {pod: requesting("", "", memory, "2Ti"), cpu: "1m", memory: "10Mi", problem: "is ignored"},
		"a number that no machine can add": {pod: requesting("", "", memory, "1e400"), cpu: "1m", memory: "10Mi", problem: "is ignored"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, problems := stage.PlanFor(test.pod)
			got := plan.Usage(&test.pod.Spec.Containers[0])
			for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: test.cpu, corev1.ResourceMemory: test.memory} {
				if q := got[name]; q.Cmp(resource.MustParse(want)) != 0 {
					t.Errorf("%s: %s, want %s", name, q.String(), want)
				}
			}
			switch {
			case test.problem == "" && len(problems) > 0:
				t.Errorf("%v", problems)
			case test.problem != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), test.problem)):
				t.Errorf("%v, want one with %q", problems, test.problem)
			}
		})
	}
}

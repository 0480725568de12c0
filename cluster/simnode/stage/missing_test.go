package stage_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// What is missing holds a pod back when it comes to that, and no longer than it is missing.
func TestMissing(t *testing.T) {
	of := func(container string) stage.Missing {
		return stage.Missing{Containers: map[string]stage.Refusal{container: {Reason: stage.ReasonConfig, Events: []stage.Event{{Container: container, Reason: "Failed"}}}}}
	}
	unmounted := stage.Missing{Volumes: []stage.Event{{Reason: "FailedMount"}}}
	type beat struct {
		at      time.Duration
		missing stage.Missing
		want    string
		events  []string
	}
	const (
		waits   = " Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady"
		begins  = " Initialized=ContainersNotInitialized Ready=ContainersNotReady ContainersReady=ContainersNotReady"
		running = " Initialized Ready ContainersReady"
	)
	for name, test := range map[string]struct {
		pod   *corev1.Pod
		beats []beat
	}{
		"an ordinary container waits for the init containers": {pod(corev1.RestartPolicyAlways, corev1.Container{Name: "a"}), []beat{
			{missing: of("main"), want: "Pending a=running,ready main=PodInitializing" + begins},
			{at: time.Second, missing: of("main"), want: "Pending a=exit0:Completed,ready main=CreateContainerConfigError" + waits, events: []string{"main Failed"}},
			{at: time.Minute, want: "Running a=exit0:Completed,ready main=running,ready" + running},
		}},
		"an init container": {pod(corev1.RestartPolicyAlways, corev1.Container{Name: "a"}), []beat{
			{missing: of("a"), want: "Pending a=CreateContainerConfigError main=PodInitializing" + begins, events: []string{"a Failed"}},
			{at: time.Minute, want: "Pending a=running,ready main=PodInitializing" + begins},
		}},
		"a volume": {pod(corev1.RestartPolicyAlways), []beat{
			{missing: unmounted, want: "Pending main=ContainerCreating" + waits, events: []string{" FailedMount"}},
			{at: time.Second, want: "Running main=running,ready" + running},
			{at: time.Minute, missing: unmounted, want: "Running main=running,ready" + running},
		}},
		"a restart": {with(pod(corev1.RestartPolicyAlways), func(p *corev1.Pod) {
			p.Annotations = map[string]string{"slipway.dev/exit-code": "1", "slipway.dev/exit-after": "1s", "slipway.dev/exit-runs": "1"}
		}), []beat{
			{want: "Running main=running,ready" + running},
			{at: time.Second, missing: of("main"), want: "Running main=CreateContainerConfigError" + waits, events: []string{"main Failed"}},
			{at: time.Minute, want: "Running main=running,ready,restarts1" + running},
		}},
		"back-off": {with(pod(corev1.RestartPolicyAlways), func(p *corev1.Pod) { p.Annotations = map[string]string{"slipway.dev/image-pull": "fail"} }), []beat{
			{want: "Pending main=ErrImagePull" + waits, events: []string{"main Failed", "main Failed"}},
			{at: 5 * time.Second, want: "Pending main=ImagePullBackOff" + waits, events: []string{"main BackOff", "main Failed"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			status := test.pod.Status
			for _, b := range test.beats {
				plan, _ := stage.PlanFor(test.pod)
				if len(test.pod.Spec.InitContainers) > 0 {
					plan["a"] = stage.Outcome{Run: time.Second}
				}
				step := stage.Next(stage.Input{Pod: test.pod, Status: status, Plan: plan, Missing: b.missing, Host: host, Now: born.Add(b.at)})
				status = step.Status
				if got := tell(test.pod, status); got != b.want {
					t.Errorf("after %s:\n%s, want\n%s", b.at, got, b.want)
				}
				var events []string
				for _, e := range step.Events {
					events = append(events, e.Container+" "+e.Reason)
				}
				if !slices.Equal(events, b.events) {
					t.Errorf("after %s: events %q, want %q", b.at, events, b.events)
				}
			}
		})
	}
}

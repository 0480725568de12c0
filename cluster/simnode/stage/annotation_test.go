package stage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

const (
	isReady  = " Initialized Ready ContainersReady"
	notReady = " Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady"
	failed   = " Initialized Ready=PodFailed ContainersReady=PodFailed"
)

func TestAnnotatedLives(t *testing.T) {
	sidecar := corev1.ContainerRestartPolicyAlways
	for _, test := range []struct {
		name  string
		pod   *corev1.Pod
		beats []beat
	}{{
		name: "an exit code fails a Job's pod",
		pod:  with(pod(corev1.RestartPolicyNever), annotated("slipway.dev/exit-code", "3")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady, wake: stage.JobRun},
			{at: stage.JobRun, want: "Failed main=exit3:Error" + failed},
		},
	}, {
		name: "a run time, a reason and a message",
		pod: with(pod(corev1.RestartPolicyNever), annotated("slipway.dev/exit-code", "137", "slipway.dev/exit-after", "1m",
			"slipway.dev/exit-reason", "OOMKilled", "slipway.dev/exit-message", "too much")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady, wake: time.Minute},
			{at: time.Minute, want: "Failed main=exit137:OOMKilled:too much" + failed},
		},
	}, {
		name: "a server with an exit code crashes again and again",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/exit-code", "1", "slipway.dev/exit-after", "1s")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady, wake: time.Second},
			{at: time.Second, want: "Running main=running,ready,restarts1" + isReady, wake: 2 * time.Second},
			{at: 2 * time.Second, want: "Running main=CrashLoopBackOff,restarts1" + notReady, wake: 12 * time.Second},
			{at: 12 * time.Second, want: "Running main=running,ready,restarts2" + isReady, wake: 13 * time.Second},
			{at: 13 * time.Second, want: "Running main=CrashLoopBackOff,restarts2" + notReady, wake: 33 * time.Second},
			{at: 33 * time.Second, want: "Running main=running,ready,restarts3" + isReady, wake: 34 * time.Second},
			{at: 34 * time.Second, want: "Running main=CrashLoopBackOff,restarts3" + notReady, wake: 74 * time.Second},
		},
	}, {
		name: "a shorter back-off doubles as well",
		pod: with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/exit-code", "1", "slipway.dev/exit-after", "1s",
			"slipway.dev/restart-after", "2s")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady, wake: time.Second},
			{at: time.Second, want: "Running main=running,ready,restarts1" + isReady, wake: 2 * time.Second},
			{at: 2 * time.Second, want: "Running main=CrashLoopBackOff,restarts1" + notReady, wake: 4 * time.Second},
			{at: 4 * time.Second, want: "Running main=running,ready,restarts2" + isReady, wake: 5 * time.Second},
			{at: 5 * time.Second, want: "Running main=CrashLoopBackOff,restarts2" + notReady, wake: 9 * time.Second},
		},
	}, {
		name: "a server recovers after some runs",
		pod: with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/exit-code", "1", "slipway.dev/exit-after", "1s",
			"slipway.dev/exit-runs", "1")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady, wake: time.Second},
			{at: time.Second, want: "Running main=running,ready,restarts1" + isReady},
		},
	}, {
		name: "a Job's pod that is restarted recovers",
		pod: with(pod(corev1.RestartPolicyOnFailure), annotated("slipway.dev/exit-code", "1", "slipway.dev/exit-after", "1s",
			"slipway.dev/exit-runs", "1")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady, wake: time.Second},
			{at: time.Second, want: "Running main=running,ready,restarts1" + isReady, wake: 2 * time.Second},
			{at: 2 * time.Second, want: "Succeeded main=exit0:Completed,restarts1 Initialized=PodCompleted Ready=PodCompleted ContainersReady=PodCompleted"},
		},
	}, {
		name: "an image that cannot be pulled, until it can",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/image-pull", "fail")),
		beats: []beat{
			{want: "Pending main=ErrImagePull" + notReady, wake: 2 * time.Second},
			{at: 2 * time.Second, want: "Pending main=ImagePullBackOff" + notReady, wake: 10 * time.Second},
			{at: 10 * time.Second, want: "Pending main=ErrImagePull" + notReady, wake: 14 * time.Second},
			{at: 14 * time.Second, want: "Pending main=ImagePullBackOff" + notReady, wake: 30 * time.Second},
			{at: 30 * time.Second, want: "Pending main=ErrImagePull" + notReady, wake: 38 * time.Second},
			{at: 31 * time.Second, change: annotated("slipway.dev/image-pull", "succeed"), want: "Running main=running,ready" + isReady},
			{at: time.Hour, change: annotated("slipway.dev/image-pull", "fail"), want: "Running main=running,ready" + isReady},
		},
	}, {
		name: "a pod without image is deleted",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/image-pull", "fail")),
		beats: []beat{
			{want: "Pending main=ErrImagePull" + notReady, wake: 2 * time.Second},
			{at: 2 * time.Hour, change: deleted(30), want: "Failed main=exit137:ContainerStatusUnknown" + failed, remove: true},
		},
	}, {
		name: "readiness comes and goes with its annotation",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/ready-after", "never")),
		beats: []beat{
			{want: "Running main=running" + notReady},
			{at: time.Second, change: annotated("slipway.dev/ready-after", "10s"), want: "Running main=running" + notReady, wake: 10 * time.Second},
			{at: 10 * time.Second, want: "Running main=running,ready" + isReady},
			{at: 20 * time.Second, change: annotated("slipway.dev/ready-after", "never"), want: "Running main=running" + notReady},
			{at: 30 * time.Second, change: func(p *corev1.Pod) { p.Annotations = nil }, want: "Running main=running,ready" + isReady},
		},
	}, {
		name: "a slow start",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/start-after", "5s")),
		beats: []beat{
			{want: "Pending main=ContainerCreating" + notReady, wake: 5 * time.Second},
			{at: 5 * time.Second, want: "Running main=running,ready" + isReady},
		},
	}, {
		name: "a start that never comes",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/start-after", "never")),
		beats: []beat{
			{want: "Pending main=ContainerCreating" + notReady},
		},
	}, {
		name: "a graceful end",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/stop-after", "5s")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady},
			{at: time.Hour - 30*time.Second, change: deleted(30), want: "Running main=running,ready" + isReady, wake: time.Hour - 25*time.Second},
			{at: time.Hour - 25*time.Second, want: "Failed main=exit143:Error" + failed, remove: true},
		},
	}, {
		name: "an end that outlasts its grace period",
		pod:  with(pod(corev1.RestartPolicyAlways), annotated("slipway.dev/stop-after", "never")),
		beats: []beat{
			{want: "Running main=running,ready" + isReady},
			{at: time.Hour - 30*time.Second, change: deleted(30), want: "Running main=running,ready" + isReady, wake: time.Hour},
			{at: time.Hour, want: "Failed main=exit137:Error" + failed, remove: true},
		},
	}, {
		name: "sidecars end after the others",
		pod: with(pod(corev1.RestartPolicyAlways, corev1.Container{Name: "log", RestartPolicy: &sidecar}),
			annotated("slipway.dev/stop-after", "5s", "log.slipway.dev/stop-after", "8s")),
		beats: []beat{
			{want: "Running log=running,ready main=running,ready" + isReady},
			{at: time.Hour - 30*time.Second, change: deleted(30), want: "Running log=running,ready main=running,ready" + isReady, wake: time.Hour - 25*time.Second},
			{at: time.Hour - 25*time.Second, want: "Running log=running,ready main=exit143:Error" + notReady, wake: time.Hour - 22*time.Second},
			{at: time.Hour - 22*time.Second, want: "Failed log=exit143:Error main=exit143:Error" + failed, remove: true},
		},
	}, {
		name: "one container by its name",
		pod: with(pod(corev1.RestartPolicyNever), func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "other"})
			annotated("slipway.dev/exit-after", "1s", "other.slipway.dev/exit-code", "2")(p)
		}),
		beats: []beat{
			{want: "Running main=running,ready other=running,ready" + isReady, wake: time.Second},
			{at: time.Second, want: "Failed main=exit0:Completed other=exit2:Error" + failed},
		},
	}, {
		name: "init containers follow their own annotations only",
		pod: with(pod(corev1.RestartPolicyNever, corev1.Container{Name: "init"}),
			annotated("slipway.dev/exit-code", "9", "init.slipway.dev/exit-after", "1s")),
		beats: []beat{
			{want: "Pending init=running,ready main=PodInitializing Initialized=ContainersNotInitialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: time.Second},
			{at: time.Second, want: "Running init=exit0:Completed,ready main=running,ready" + isReady, wake: time.Second + stage.JobRun},
			{at: time.Second + stage.JobRun, want: "Failed init=exit0:Completed,ready main=exit9:Error" + failed},
		},
	}, {
		name: "a failing init container",
		pod:  with(pod(corev1.RestartPolicyNever, corev1.Container{Name: "init"}), annotated("init.slipway.dev/exit-code", "1")),
		beats: []beat{
			{want: "Failed init=exit1:Error main=PodInitializing Initialized=ContainersNotInitialized Ready=PodFailed ContainersReady=PodFailed"},
		},
	}} {
		t.Run(test.name, func(t *testing.T) { live(t, test.pod, nil, test.beats) })
	}
}

// Whatever cannot be followed is told, and changes nothing.
func TestProblems(t *testing.T) {
	for _, test := range []struct{ key, value, expected string }{
		{"slipway.dev/exit-code", "256", "0 to 255"},
		{"slipway.dev/exit-code", "-1", "0 to 255"},
		{"slipway.dev/exit-code", "", "0 to 255"},
		{"slipway.dev/exit-after", "soon", "never"},
		{"slipway.dev/start-after", "10", "never"},
		{"slipway.dev/ready-after", "-1s", "never"},
		{"slipway.dev/stop-after", "Never", "never"},
		{"slipway.dev/exit-reason", "out of memory", "CamelCase"},
		{"slipway.dev/exit-reason", "oom", "CamelCase"},
		{"slipway.dev/exit-runs", "0", "1 or more"},
		{"slipway.dev/image-pull", "no", "fail or succeed"},
		{"slipway.dev/restart-after", "0s", "duration"},
		{"main.slipway.dev/exit-code", "one", "0 to 255"},
		{"slipway.dev/exitcode", "1", "exit-code"},
		{"man.slipway.dev/exit-code", "1", "main"},
	} {
		p := with(pod(corev1.RestartPolicyAlways), annotated(test.key, test.value))
		plan, problems := stage.PlanFor(p)
		if d := cmp.Diff(stage.DefaultPlan(p).Of("main"), plan.Of("main")); d != "" {
			t.Errorf("%s=%s changes the plan: %s", test.key, test.value, d)
		}
		if len(problems) != 1 || problems[0].Annotation != test.key || !strings.Contains(problems[0].Error(), test.expected) {
			t.Errorf("%s=%s: problems %v, want one that says %q", test.key, test.value, problems, test.expected)
		}
	}
}

func TestForeignAnnotationsAreNoProblem(t *testing.T) {
	p := with(pod(corev1.RestartPolicyAlways), annotated("example.com/exit-code", "x", "notslipway.dev/exit-code", "x", "plain", "x"))
	if _, problems := stage.PlanFor(p); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
}

func TestEphemeralContainersEndAtOnce(t *testing.T) {
	p := pod(corev1.RestartPolicyAlways)
	p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox"}}}
	step := next(t, stage.Input{Pod: p, Plan: stage.DefaultPlan(p), Host: host, Now: born})
	if s := step.Status.EphemeralContainerStatuses; len(s) != 1 || s[0].Name != "debugger" || s[0].State.Terminated == nil || s[0].State.Terminated.ExitCode == 0 {
		t.Errorf("statuses: %v", s)
	}
	if step.Status.Phase != corev1.PodRunning {
		t.Errorf("the pod is %s", step.Status.Phase)
	}
}

func annotated(keysAndValues ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		for i := 0; i < len(keysAndValues); i += 2 {
			p.Annotations[keysAndValues[i]] = keysAndValues[i+1]
		}
	}
}

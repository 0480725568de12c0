package stage_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

var (
	born = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	host = stage.Host{NodeIP: "10.127.0.1", PodIP: "10.128.0.1"}
)

// A beat is what is expected of a pod at one moment of its life.
type beat struct {
	at     time.Duration // since the pod was bound
	change func(*corev1.Pod)
	want   string // as tell puts it
	wake   time.Duration
	remove bool
}

func TestLives(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for _, test := range []struct {
		name  string
		pod   *corev1.Pod
		plan  stage.Plan // what the annotations say when nil
		beats []beat
	}{{
		name: "a server runs until it is deleted",
		pod:  pod(corev1.RestartPolicyAlways),
		beats: []beat{
			{want: "Running main=running,ready Initialized Ready ContainersReady"},
			{at: time.Hour, want: "Running main=running,ready Initialized Ready ContainersReady"},
			{at: 2 * time.Hour, change: deleted(30), want: "Failed main=exit143:Error Initialized Ready=PodFailed ContainersReady=PodFailed", remove: true},
		},
	}, {
		name: "a Job's pod succeeds",
		pod:  pod(corev1.RestartPolicyNever),
		beats: []beat{
			{want: "Running main=running,ready Initialized Ready ContainersReady", wake: stage.JobRun},
			{at: stage.JobRun - 1, want: "Running main=running,ready Initialized Ready ContainersReady", wake: stage.JobRun},
			{at: stage.JobRun, want: "Succeeded main=exit0:Completed Initialized=PodCompleted Ready=PodCompleted ContainersReady=PodCompleted"},
			{at: time.Hour, change: deleted(0), want: "Succeeded main=exit0:Completed Initialized=PodCompleted Ready=PodCompleted ContainersReady=PodCompleted"},
		},
	}, {
		name: "a failing Job's pod fails",
		pod:  pod(corev1.RestartPolicyNever),
		plan: stage.Plan{"main": {Run: time.Second, ExitCode: 3}},
		beats: []beat{
			{want: "Running main=running,ready Initialized Ready ContainersReady", wake: time.Second},
			{at: time.Second, want: "Failed main=exit3:Error Initialized Ready=PodFailed ContainersReady=PodFailed"},
		},
	}, {
		name: "a crash loop backs off",
		pod:  pod(corev1.RestartPolicyOnFailure),
		plan: stage.Plan{"main": {Run: time.Second, ExitCode: 1}},
		beats: []beat{
			{want: "Running main=running,ready Initialized Ready ContainersReady", wake: time.Second},
			{at: time.Second, want: "Running main=running,ready,restarts1 Initialized Ready ContainersReady", wake: 2 * time.Second},
			{at: 2 * time.Second, want: "Running main=CrashLoopBackOff,restarts1 Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: 12 * time.Second},
			{at: 12 * time.Second, want: "Running main=running,ready,restarts2 Initialized Ready ContainersReady", wake: 13 * time.Second},
			{at: 13 * time.Second, want: "Running main=CrashLoopBackOff,restarts2 Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: 33 * time.Second},
		},
	}, {
		name: "a slow start and a late readiness",
		pod:  pod(corev1.RestartPolicyAlways),
		plan: stage.Plan{"main": {Start: 5 * time.Second, Ready: 10 * time.Second, Run: stage.Never}},
		beats: []beat{
			{want: "Pending main=ContainerCreating Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: 5 * time.Second},
			{at: 5 * time.Second, want: "Running main=running Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: 15 * time.Second},
			{at: 15 * time.Second, want: "Running main=running,ready Initialized Ready ContainersReady"},
		},
	}, {
		name: "never ready",
		pod:  pod(corev1.RestartPolicyAlways),
		plan: stage.Plan{"main": {Ready: stage.Never, Run: stage.Never}},
		beats: []beat{
			{want: "Running main=running Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady"},
		},
	}, {
		name: "init containers run one after the other",
		pod:  pod(corev1.RestartPolicyAlways, corev1.Container{Name: "a"}, corev1.Container{Name: "b"}),
		plan: stage.Plan{"a": {Run: time.Second}, "b": {Run: time.Second}},
		beats: []beat{
			{want: "Pending a=running,ready b=PodInitializing main=PodInitializing Initialized=ContainersNotInitialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: time.Second},
			{at: time.Second, want: "Pending a=exit0:Completed,ready b=running,ready main=PodInitializing Initialized=ContainersNotInitialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: 2 * time.Second},
			{at: 2 * time.Second, want: "Running a=exit0:Completed,ready b=exit0:Completed,ready main=running,ready Initialized Ready ContainersReady"},
		},
	}, {
		name: "by default init containers take no time",
		pod:  pod(corev1.RestartPolicyNever, corev1.Container{Name: "a"}),
		beats: []beat{
			{want: "Running a=exit0:Completed,ready main=running,ready Initialized Ready ContainersReady", wake: stage.JobRun},
		},
	}, {
		name: "a failed init container fails a pod that is not restarted",
		pod:  pod(corev1.RestartPolicyNever, corev1.Container{Name: "a"}),
		plan: stage.Plan{"a": {Run: 0, ExitCode: 1}},
		beats: []beat{
			{want: "Failed a=exit1:Error main=PodInitializing Initialized=ContainersNotInitialized Ready=PodFailed ContainersReady=PodFailed"},
		},
	}, {
		name: "a failed init container is tried again in a pod that is restarted",
		pod:  pod(corev1.RestartPolicyAlways, corev1.Container{Name: "a"}),
		plan: stage.Plan{"a": {Run: 0, ExitCode: 1}},
		beats: []beat{
			{want: "Pending a=CrashLoopBackOff,restarts1 main=PodInitializing Initialized=ContainersNotInitialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: 10 * time.Second},
		},
	}, {
		name: "sidecars do not keep a Job from succeeding",
		pod:  pod(corev1.RestartPolicyNever, corev1.Container{Name: "log", RestartPolicy: &always}),
		beats: []beat{
			{want: "Running log=running,ready main=running,ready Initialized Ready ContainersReady", wake: stage.JobRun},
			{at: stage.JobRun, want: "Succeeded log=exit143:Error main=exit0:Completed Initialized=PodCompleted Ready=PodCompleted ContainersReady=PodCompleted"},
		},
	}, {
		name: "a sidecar's crash does not hold up the others",
		pod:  pod(corev1.RestartPolicyNever, corev1.Container{Name: "log", RestartPolicy: &always}),
		plan: stage.Plan{"log": {Run: time.Second, ExitCode: 1}, "main": {Run: 3 * time.Second}},
		beats: []beat{
			{want: "Running log=running,ready main=running,ready Initialized Ready ContainersReady", wake: time.Second},
			{at: time.Second, want: "Running log=running,ready,restarts1 main=running,ready Initialized Ready ContainersReady", wake: 2 * time.Second},
			{at: 2 * time.Second, want: "Running log=CrashLoopBackOff,restarts1 main=running,ready Initialized Ready=ContainersNotReady ContainersReady=ContainersNotReady", wake: 3 * time.Second},
			{at: 3 * time.Second, want: "Succeeded log=CrashLoopBackOff,restarts1 main=exit0:Completed Initialized=PodCompleted Ready=PodCompleted ContainersReady=PodCompleted"},
		},
	}, {
		name: "the active deadline ends a pod",
		pod:  with(pod(corev1.RestartPolicyAlways), func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(60)) }),
		beats: []beat{
			{want: "Running main=running,ready Initialized Ready ContainersReady", wake: time.Minute},
			{at: time.Minute, want: "Failed:DeadlineExceeded main=exit143:Error Initialized Ready=PodFailed ContainersReady=PodFailed"},
		},
	}, {
		name: "readiness waits for its gates",
		pod: with(pod(corev1.RestartPolicyAlways), func(p *corev1.Pod) {
			p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
		}),
		beats: []beat{
			{want: "Running main=running,ready Initialized Ready=ReadinessGatesNotReady ContainersReady"},
			{
				at: time.Second,
				change: func(p *corev1.Pod) {
					p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/lb", Status: corev1.ConditionTrue})
				},
				want: "Running main=running,ready Initialized Ready ContainersReady",
			},
		},
	}, {
		name: "a pod that is deleted before it ran",
		pod:  with(pod(corev1.RestartPolicyAlways), deleted(30)),
		beats: []beat{
			{want: "Failed main=exit137:ContainerStatusUnknown Initialized Ready=PodFailed ContainersReady=PodFailed", remove: true},
		},
	}, {
		name: "a deleted pod with finalizers is removed once",
		pod:  with(pod(corev1.RestartPolicyAlways), deleted(0)),
		beats: []beat{
			{want: "Failed main=exit137:ContainerStatusUnknown Initialized Ready=PodFailed ContainersReady=PodFailed"},
		},
	}, {
		name: "a final phase that somebody else wrote stays",
		pod:  pod(corev1.RestartPolicyAlways),
		beats: []beat{
			{want: "Running main=running,ready Initialized Ready ContainersReady"},
			{at: time.Second, change: func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"} }, want: "Failed:Evicted"},
		},
	}} {
		t.Run(test.name, func(t *testing.T) { live(t, test.pod, test.plan, test.beats) })
	}
}

// live follows a pod through its life; without a plan through what its annotations say.
func live(t *testing.T, pod *corev1.Pod, plan stage.Plan, beats []beat) {
	t.Helper()
	status := pod.Status
	for _, b := range beats {
		if b.change != nil {
			b.change(pod)
		}
		current, problems := plan, []stage.Problem(nil)
		if plan == nil {
			current, problems = stage.PlanFor(pod)
		}
		if len(problems) > 0 {
			t.Fatalf("at %s: %v", b.at, problems)
		}
		in := stage.Input{Pod: pod, Status: status, Plan: current, Host: host, Now: born.Add(b.at)}
		step := next(t, in)
		if got := tell(pod, step.Status); got != b.want {
			t.Fatalf("at %s:\n got %s\nwant %s", b.at, got, b.want)
		}
		var wake time.Duration
		if !step.Wake.IsZero() {
			wake = step.Wake.Sub(born)
		}
		if wake != b.wake || step.Remove != b.remove {
			t.Fatalf("at %s: wake %s, remove %t; want %s, %t", b.at, wake, step.Remove, b.wake, b.remove)
		}
		status, pod.Status = step.Status, throughAPIServer(t, step.Status)
	}
}

// next is stage.Next, checked for what holds at any stage.
func next(t *testing.T, in stage.Input) stage.Step {
	t.Helper()
	podBefore, statusBefore := in.Pod.DeepCopy(), in.Status.DeepCopy()
	step := stage.Next(in)
	if d := cmp.Diff(podBefore, in.Pod); d != "" {
		t.Errorf("Next changed the pod: %s", d)
	}
	if d := cmp.Diff(*statusBefore, in.Status); d != "" {
		t.Errorf("Next changed the status: %s", d)
	}
	if !step.Wake.IsZero() && !step.Wake.After(in.Now) {
		t.Errorf("wake %s is not after now %s", step.Wake, in.Now)
	}
	in.Status = step.Status
	if d := cmp.Diff(step, stage.Next(in)); d != "" {
		t.Errorf("the same moment gives another stage: %s", d)
	}
	return step
}

// A pod's life, whatever its outcomes are, moves forward until it ends or nothing is left to happen by itself.
func TestAnyLifeMovesForward(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		policies := []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
		pod := pod(policies[r.IntN(3)], corev1.Container{Name: "a"}, corev1.Container{Name: "b"})
		plan := stage.Plan{}
		for _, name := range []string{"a", "b", "main"} {
			plan[name] = stage.Outcome{
				Start: duration(r), Ready: duration(r), Run: duration(r), Stop: duration(r), ExitCode: int32(r.IntN(2)),
				Runs: int32(r.IntN(3)), BackOff: time.Duration(r.IntN(2)) * time.Millisecond, NoImage: r.IntN(5) == 0,
			}
		}
		in := stage.Input{Pod: pod, Plan: plan, Host: host, Now: born}
		for range 40 {
			step := next(t, in)
			if before, after := restarts(in.Status), restarts(step.Status); after < before {
				t.Fatalf("seed %d: restarts went from %d to %d", seed, before, after)
			}
			if stage.Terminal(step.Status.Phase) && !step.Wake.IsZero() {
				t.Fatalf("seed %d: a pod that ended wants to wake at %s", seed, step.Wake)
			}
			if in.Status = step.Status; step.Wake.IsZero() {
				break
			}
			in.Now, pod.Status = step.Wake, throughAPIServer(t, step.Status)
		}
	}
}

// A node that starts again knows a pod only by what the API server kept.
func TestRestartedNodeGoesOn(t *testing.T) {
	pod := pod(corev1.RestartPolicyNever)
	plan := stage.Plan{"main": {Run: time.Minute}}
	now := born.Add(700 * time.Millisecond)
	step := stage.Next(stage.Input{Pod: pod, Plan: plan, Host: host, Now: now})
	pod.Status = throughAPIServer(t, step.Status)
	again := stage.Next(stage.Input{Pod: pod, Status: pod.Status, Plan: plan, Host: host, Now: now.Add(10 * time.Second)})
	if d := cmp.Diff(pod.Status, again.Status); d != "" {
		t.Errorf("the status changed: %s", d)
	}
	if want := born.Add(time.Minute); !again.Wake.Equal(want) {
		t.Errorf("wake at %s, want %s", again.Wake, want)
	}
}

func TestStatusNamesItsPlace(t *testing.T) {
	p := pod(corev1.RestartPolicyAlways)
	p.Generation = 3
	status := stage.Next(stage.Input{Pod: p, Plan: stage.Plan{}, Host: host, Now: born}).Status
	if status.HostIP != host.NodeIP || status.PodIP != host.PodIP || len(status.PodIPs) != 1 || len(status.HostIPs) != 1 {
		t.Errorf("addresses: host %s %v, pod %s %v", status.HostIP, status.HostIPs, status.PodIP, status.PodIPs)
	}
	if status.ObservedGeneration != 3 || status.StartTime == nil {
		t.Errorf("observed generation %d, start time %v", status.ObservedGeneration, status.StartTime)
	}
	p.Spec.HostNetwork = true
	if ip := stage.Next(stage.Input{Pod: p, Plan: stage.Plan{}, Host: host, Now: born}).Status.PodIP; ip != host.NodeIP {
		t.Errorf("a pod on the host's network has %s", ip)
	}
}

// What others wrote into the status is theirs.
func TestForeignStatusStays(t *testing.T) {
	p := pod(corev1.RestartPolicyAlways)
	p.Status.QOSClass = corev1.PodQOSBurstable
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Reason: "Test"},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
	}
	status := stage.Next(stage.Input{Pod: p, Plan: stage.Plan{}, Host: host, Now: born}).Status
	if d := cmp.Diff(p.Status.Conditions, status.Conditions[:2]); d != "" || status.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("QOS class %s, conditions: %s", status.QOSClass, d)
	}
}

func duration(r *rand.Rand) time.Duration {
	return []time.Duration{0, time.Second, time.Minute, stage.Never}[r.IntN(4)]
}

func restarts(s corev1.PodStatus) (n int32) {
	for _, c := range s.ContainerStatuses {
		n += c.RestartCount
	}
	for _, c := range s.InitContainerStatuses {
		n += c.RestartCount
	}
	return n
}

func pod(policy corev1.RestartPolicy, init ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u-1", Generation: 1},
		Spec: corev1.PodSpec{
			NodeName: "node-1", RestartPolicy: policy, InitContainers: init,
			Containers: []corev1.Container{{Name: "main", Image: "example.com/main:v1"}},
		},
	}
}

func with(p *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	change(p)
	return p
}

func deleted(grace int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(born.Add(time.Hour))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
	}
}

// throughAPIServer is the status as it comes back: times lose their fractions.
func throughAPIServer(t *testing.T, s corev1.PodStatus) (result corev1.PodStatus) {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// tell puts a status into one line: phase, containers, and the conditions that are true by name, others with their
// reason.
func tell(pod *corev1.Pod, s corev1.PodStatus) string {
	words := []string{string(s.Phase)}
	if s.Reason != "" {
		words[0] += ":" + s.Reason
	}
	for _, c := range append(s.InitContainerStatuses, s.ContainerStatuses...) {
		words = append(words, c.Name+"="+tellContainer(c))
	}
	for _, c := range s.Conditions {
		switch {
		case c.Type == corev1.PodReadyToStartContainers || c.Type == corev1.PodScheduled || strings.Contains(string(c.Type), "/"):
		case c.Reason != "":
			words = append(words, string(c.Type)+"="+c.Reason)
		default:
			words = append(words, string(c.Type))
		}
	}
	return strings.Join(words, " ")
}

func tellContainer(c corev1.ContainerStatus) string {
	var text string
	switch s := c.State; {
	case s.Running != nil:
		text = "running"
	case s.Terminated != nil:
		text = fmt.Sprintf("exit%d:%s", s.Terminated.ExitCode, s.Terminated.Reason)
		if s.Terminated.Reason != "ContainerStatusUnknown" && s.Terminated.Message != "" {
			text += ":" + s.Terminated.Message
		}
	case s.Waiting != nil:
		text = s.Waiting.Reason
	}
	if c.Ready {
		text += ",ready"
	}
	if c.RestartCount > 0 {
		text += fmt.Sprintf(",restarts%d", c.RestartCount)
	}
	return text
}

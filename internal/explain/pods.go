package explain

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// crashLoop is the reason of containers that end again and again.
const crashLoop = "CrashLoopBackOff"

var podKind = schema.GroupKind{Kind: "Pod"}

// isWorkload reports whether an object runs pods; what its conditions say is behind what its pods say.
func isWorkload(m *member) bool {
	_, is, _ := unstructured.NestedMap(m.object.Object, "spec", "template", "spec")
	return is && (m.kind().Group == "apps" || m.kind().Group == "batch")
}

// pod judges a pod; with deep also by its logs, which it then says.
func (s *scene) pod(ctx context.Context, m *member, deep bool) (read bool) {
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, &pod); err != nil {
		s.unread("pod "+m.object.GetName(), err)
		return false
	}
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		m.text = "completed"
	case ready && !slices.ContainsFunc(pod.Status.ContainerStatuses, s.justCrashed):
		m.says = true
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "": // such as Evicted
		m.state, m.text = NotReady, plainly(pod.Status.Reason+": "+pod.Status.Message)
		m.because(concrete, pod.Status.Reason, "%s", plainly(pod.Status.Message))
	default:
		m.state = InProgress
		return s.unreadyPod(ctx, m, pod, deep)
	}
	return false
}

// justCrashed reports whether a container runs again since a moment, after it has ended with failures: without a
// readiness probe it counts as ready until it ends again.
func (s *scene) justCrashed(of corev1.ContainerStatus) bool {
	const moment = 10 * time.Second
	last := of.LastTerminationState.Terminated
	return of.RestartCount > 1 && last != nil && last.ExitCode != 0 && s.now.Sub(last.FinishedAt.Time) < moment
}

// unreadyPod finds what keeps a pod from being ready.
func (s *scene) unreadyPod(ctx context.Context, m *member, pod corev1.Pod, deep bool) (read bool) {
	if text, slow := s.starts(pod); slow {
		m.text = text
		s.mounts(m)
		return false
	}
	if !deep {
		m.state, m.text = NotReady, "not ready"
		m.because(symptom, "NotReady", "the pod is not ready").Next = describe(m)
		return false
	}
	reasons, logs := s.cluster.Unready(ctx, pod)
	for _, u := range reasons {
		if u.Reason != crashLoop { // behind the pause is what it pauses for
			s.podCause(m, pod, u, logs[u.Container])
		}
	}
	if at := slices.IndexFunc(pod.Status.ContainerStatuses, s.justCrashed); at >= 0 && len(m.causes) == 0 {
		of := pod.Status.ContainerStatuses[at]
		ended := fmt.Sprintf("the container ended with exit code %d; restarts: %d", of.LastTerminationState.Terminated.ExitCode, of.RestartCount)
		s.podCause(m, pod, report.Unready{Container: of.Name, Reason: crashLoop, Message: ended}, s.cluster.EndedLog(ctx, pod, of.Name))
	}
	s.mounts(m)
	if m.state == InProgress && m.text == "" {
		m.text = fmt.Sprintf("pod is %s", pod.Status.Phase)
	}
	return true
}

// describe is the command that shows a pod.
func describe(m *member) string {
	return command("slipway kubectl describe pod -n %s %s", m.object.GetNamespace(), m.object.GetName())
}

// podCause adds why a pod is not ready.
func (s *scene) podCause(m *member, pod corev1.Pod, u report.Unready, log []string) {
	in := ""
	if u.Container != "" {
		in = "container " + u.Container + ": "
	}
	if u.Reason == "Error" {
		u.Reason = "ContainerFailed"
		if slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(of corev1.ContainerStatus) bool { return of.Name == u.Container && of.RestartCount > 0 }) {
			u.Reason = crashLoop
		}
	}
	if e, is := s.eventOf(m, "Unhealthy"); is && u.Reason == "ContainersNotReady" {
		u.Message = plainly(u.Message + ": " + e.Message)
	}
	m.state = NotReady
	if m.text == "" {
		m.text = u.Reason
	}
	c := m.because(concrete, u.Reason, "%s%s", in, u.Message)
	c.Container, c.Probe = u.Container, u.Probe
	for _, line := range log {
		c.Log = append(c.Log, plainly(line))
	}
	switch {
	case u.Container != "" && slices.ContainsFunc(pod.Status.ContainerStatuses, func(of corev1.ContainerStatus) bool {
		return of.Name == u.Container && of.LastTerminationState.Terminated != nil
	}):
		c.Next = command("slipway kubectl logs --previous -c %s -n %s %s", u.Container, pod.Namespace, pod.Name)
	case u.Container != "" && u.Reason == "ContainersNotReady":
		c.Next = command("slipway kubectl logs -c %s -n %s %s", u.Container, pod.Namespace, pod.Name)
	default:
		c.Next = describe(m)
	}
}

// starts reports whether a pod starts as usual, and what it waits for.
func (s *scene) starts(pod corev1.Pod) (text string, usual bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return plainly(c.Reason + ": " + c.Message), c.Reason == corev1.PodReasonSchedulingGated
		}
	}
	containers := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	if len(containers) == 0 {
		return "it waits for its node", s.age(pod.CreationTimestamp) < usualStart
	}
	for _, of := range containers {
		waiting, running := of.State.Waiting, of.State.Running
		ended := of.State.Terminated != nil && of.State.Terminated.ExitCode != 0
		switch {
		case ended, s.justCrashed(of), of.RestartCount > 0 && !of.Ready, waiting != nil && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing":
			return "", false
		case text != "":
		case waiting != nil && waiting.Reason == "ContainerCreating":
			text = "container " + of.Name + " is being created"
		case running != nil && !of.Ready && s.age(running.StartedAt) < startOf(pod, of):
			text = fmt.Sprintf("container %s runs since %s and is not ready yet", of.Name, s.age(running.StartedAt))
		case running != nil && !of.Ready:
			return "", false
		}
	}
	return text, text != ""
}

// startOf is how long a container may run until it is ready: until it has started, where a probe says that, or its work
// is done, where others wait for it; else as long as its readiness probe lets it, or a minute.
func startOf(pod corev1.Pod, of corev1.ContainerStatus) time.Duration {
	for _, c := range pod.Spec.InitContainers {
		if c.Name == of.Name && c.RestartPolicy == nil {
			return math.MaxInt64
		}
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name != of.Name {
			continue
		}
		if c.StartupProbe != nil && of.Started != nil && !*of.Started {
			return math.MaxInt64 // the kubelet ends it when its time is over
		}
		if p := c.ReadinessProbe; p != nil {
			return max(usualStart, time.Duration(p.InitialDelaySeconds+p.FailureThreshold*p.PeriodSeconds)*time.Second)
		}
	}
	return usualStart
}

// mounts finds what the kubelet cannot give to a pod.
func (s *scene) mounts(m *member) {
	if e, is := s.eventOf(m, "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"); is {
		m.state, m.text = NotReady, e.Reason
		m.because(concrete, e.Reason, "%s", plainly(e.Message)).Next = describe(m)
	}
}

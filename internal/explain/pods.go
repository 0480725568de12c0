package explain

import (
	"context"
	"fmt"
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

// pod judges a pod; with deep also by its logs.
func (s *scene) pod(ctx context.Context, m *member, deep bool) {
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, &pod); err != nil {
		s.unread("pod "+m.object.GetName(), err)
		return
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
		s.unreadyPod(ctx, m, pod, deep)
	}
}

// justCrashed reports whether a container runs again since a moment, after it has ended with failures: without a
// readiness probe it counts as ready until it ends again.
func (s *scene) justCrashed(of corev1.ContainerStatus) bool {
	const moment = 10 * time.Second
	last := of.LastTerminationState.Terminated
	return of.RestartCount > 1 && last != nil && last.ExitCode != 0 && s.now.Sub(last.FinishedAt.Time) < moment
}

// unreadyPod finds what keeps a pod from being ready.
func (s *scene) unreadyPod(ctx context.Context, m *member, pod corev1.Pod, deep bool) {
	if text, slow := s.starts(pod); slow {
		m.text = text
		s.mounts(m)
		return
	}
	if !deep {
		m.state, m.text = NotReady, "not ready"
		return
	}
	reasons, log := s.cluster.Unready(ctx, pod)
	for _, u := range reasons {
		if u.Container == "" && slices.ContainsFunc(s.warnings[pod.UID], func(e corev1.Event) bool { return e.Reason == u.Reason }) || u.Reason == crashLoop {
			continue // an event may be over, and behind a pause is what it pauses for
		}
		s.podCause(m, pod, u, log)
	}
	s.mounts(m)
	if m.state == InProgress && m.text == "" {
		m.text = fmt.Sprintf("pod is %s", pod.Status.Phase)
	}
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
	if c.Container, c.Probe = u.Container, u.Probe; u.Container != "" {
		c.Log = log
	}
	switch at := " -n " + pod.Namespace + " " + pod.Name; {
	case u.Container != "" && slices.ContainsFunc(pod.Status.ContainerStatuses, func(of corev1.ContainerStatus) bool {
		return of.Name == u.Container && of.LastTerminationState.Terminated != nil
	}):
		c.Next = "slipway kubectl logs --previous -c " + u.Container + at
	case u.Container != "" && u.Reason == "ContainersNotReady":
		c.Next = "slipway kubectl logs -c " + u.Container + at
	default:
		c.Next = "slipway kubectl describe pod" + at
	}
}

// starts reports whether a pod starts as usual, and what it waits for.
func (s *scene) starts(pod corev1.Pod) (text string, usual bool) {
	if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	}) {
		return "", false
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
		case running != nil && !of.Ready && s.age(running.StartedAt) < usualStart:
			text = fmt.Sprintf("container %s runs since %s and is not ready yet", of.Name, s.age(running.StartedAt))
		case running != nil && !of.Ready:
			return "", false
		}
	}
	return text, text != ""
}

// mounts finds what the kubelet cannot give to a pod.
func (s *scene) mounts(m *member) {
	if e, is := s.eventOf(m, "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"); is {
		m.state, m.text = NotReady, e.Reason
		m.because(concrete, e.Reason, "%s", plainly(e.Message)).Next = "slipway kubectl describe pod -n " + m.object.GetNamespace() + " " + m.object.GetName()
	}
}

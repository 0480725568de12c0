package network

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A PodLister lists pods of a namespace, as the API server has them now.
type PodLister func(ctx context.Context, namespace string, selector labels.Selector) ([]corev1.Pod, error)

const (
	// listTime bounds the look at pods: the caller waits for its answer meanwhile.
	listTime = 2 * time.Second
	// maxMessage bounds, in bytes, what is passed on of a message. That on a missing image ends with what helps, after
	// 500 bytes or more.
	maxMessage = 1000
)

// Explain makes the dialer name the pods that a Service without ready endpoints waits for.
func (d *Dialer) Explain(pods PodLister) { d.pods = pods }

// missing says why a Service has no ready endpoints, as far as its pods show it. It is empty if they do not.
func (d *Dialer) missing(ctx context.Context, s *corev1.Service) string {
	if d.pods == nil || len(s.Spec.Selector) == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	selector := labels.SelectorFromSet(s.Spec.Selector)
	all, err := d.pods(ctx, s.Namespace, selector)
	switch {
	case err != nil:
		return "" // the refusal itself is what counts
	case len(all) == 0:
		return "no pod in the namespace has the labels of its selector, " + selector.String()
	}
	slices.SortStableFunc(all, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(urgency(&b), urgency(&a)), cmp.Compare(a.Name, b.Name))
	})
	text := "its pod " + all[0].Name + " " + waitsFor(&all[0])
	if others := len(all) - 1; others > 0 {
		text += fmt.Sprintf(" (%d more of its pods)", others)
	}
	return text
}

// urgency is greater for a pod that stands for the Service: one that goes or has ended is no longer expected to serve.
func urgency(pod *corev1.Pod) int {
	switch {
	case pod.DeletionTimestamp != nil:
		return 0
	case pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		return 1
	}
	return 2
}

// waitsFor says what keeps a pod from being an endpoint.
func waitsFor(pod *corev1.Pod) string {
	switch {
	case pod.DeletionTimestamp != nil:
		return "is being deleted"
	case pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		return join("has ended: "+string(pod.Status.Phase), cmp.Or(pod.Status.Reason, pod.Status.Message))
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return join("is not scheduled", c.Message)
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if text := stuck(&c); text != "" {
			return text
		}
	}
	if pod.Status.Phase != corev1.PodRunning {
		return "waits: " + created(pod)
	}
	if c := condition(pod, corev1.PodReady); c == nil || c.Status != corev1.ConditionTrue {
		return "runs but is not ready" + unready(pod)
	}
	return "is ready but has no endpoint for this port yet"
}

// stuck says what a container waits for, if that is not the ordinary course of things.
func stuck(s *corev1.ContainerStatus) string {
	if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
		return "waits: its container " + s.Name + " " + ended(t)
	}
	w := s.State.Waiting
	if w == nil || w.Reason == "ContainerCreating" || w.Reason == "PodInitializing" {
		return ""
	}
	text := join("waits: "+w.Reason, w.Message)
	if t := s.LastTerminationState.Terminated; t != nil {
		text += "; its container " + s.Name + " " + ended(t) + " last"
	}
	return text
}

// ended says how a container ended. Its own message is left out: callers need not be allowed to see it.
func ended(t *corev1.ContainerStateTerminated) string {
	return fmt.Sprintf("ended with exit code %d (%s)", t.ExitCode, cmp.Or(t.Reason, "Error"))
}

// created says that a pod is being created.
func created(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		return "the scheduler has not placed it"
	}
	return "its containers are being created on node " + pod.Spec.NodeName
}

// unready names the containers that are not ready, and whether a probe decides that.
func unready(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Ready {
			continue
		}
		at := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == s.Name })
		if at >= 0 && pod.Spec.Containers[at].ReadinessProbe != nil {
			return ": the readiness probe of its container " + s.Name + " has not succeeded"
		}
		return ": its container " + s.Name + " is not"
	}
	return ""
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// join adds a message, on the same line, of bounded length and without what a terminal would act on: a registry's
// answer may be part of it.
func join(text, message string) string {
	message = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, message)
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	if message == "" {
		return text
	}
	return text + ": " + message
}

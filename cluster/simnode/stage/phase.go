package stage

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phase sums up the containers' states.
func (p *pod) phase() corev1.PodPhase {
	if p.initFailed() {
		return corev1.PodFailed
	}
	stopping, failed, ended := p.DeletionTimestamp != nil || p.status.Reason == reasonDeadline, false, true
	for i := range p.Spec.Containers {
		r := p.run(i)
		switch state := r.status.State; {
		case state.Terminated != nil:
			failed = failed || state.Terminated.ExitCode != 0
			ended = ended && (stopping || !restarts(r.policy, state.Terminated.ExitCode))
		case stopping && state.Running != nil:
			ended = false
		case stopping:
			failed = true
		case state.Waiting != nil && !r.restarting():
			return corev1.PodPending
		default:
			ended = false
		}
	}
	switch {
	case !ended || stopping && p.sidecarRuns():
		return corev1.PodRunning
	case failed:
		return corev1.PodFailed
	default:
		return corev1.PodSucceeded
	}
}

func (p *pod) sidecarRuns() bool {
	return slices.ContainsFunc(p.status.InitContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running != nil })
}

// initFailed tells whether an init container failed for good.
func (p *pod) initFailed() bool {
	for i := range p.Spec.InitContainers {
		r := p.initRun(i)
		if t := r.status.State.Terminated; t != nil && t.ExitCode != 0 && !restarts(r.policy, t.ExitCode) {
			return true
		}
	}
	return false
}

// initialized tells whether all init containers have done their part; once the others run, that stays so.
func (p *pod) initialized() bool {
	for i := range p.Spec.InitContainers {
		if _, ok := p.initRun(i).passed(); !ok {
			return false
		}
	}
	return true
}

// ours are the conditions that a node keeps. PodScheduled is the scheduler's; a node adds it to pods that came without
// one.
func ours(kind corev1.PodConditionType) bool {
	switch kind {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady:
		return true
	}
	return false
}

func (p *pod) setConditions() {
	unready := p.unready()
	p.set(corev1.PodReadyToStartContainers, !Terminal(p.status.Phase) && p.mounted(), "", "")
	p.setInitialized()
	switch gates := p.openGates(); {
	case Terminal(p.status.Phase):
		reason := "PodCompleted"
		if p.status.Phase == corev1.PodFailed {
			reason = "PodFailed"
		}
		p.set(corev1.PodReady, false, reason, "")
		p.set(corev1.ContainersReady, false, reason, "")
	case len(unready) > 0:
		message := fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " "))
		p.set(corev1.PodReady, false, "ContainersNotReady", message)
		p.set(corev1.ContainersReady, false, "ContainersNotReady", message)
	case len(gates) > 0:
		p.set(corev1.PodReady, false, "ReadinessGatesNotReady", strings.Join(gates, ", "))
		p.set(corev1.ContainersReady, true, "", "")
	default:
		p.set(corev1.PodReady, true, "", "")
		p.set(corev1.ContainersReady, true, "", "")
	}
	if condition(p.status, corev1.PodScheduled) == nil {
		p.set(corev1.PodScheduled, true, "", "")
	}
}

func (p *pod) setInitialized() {
	var missing []string
	for i := range p.Spec.InitContainers {
		if _, ok := p.initRun(i).passed(); !ok {
			missing = append(missing, p.Spec.InitContainers[i].Name)
		}
	}
	switch {
	case p.status.Phase == corev1.PodSucceeded:
		p.set(corev1.PodInitialized, true, "PodCompleted", "")
	case len(missing) > 0 && !p.everInitialized():
		p.set(corev1.PodInitialized, false, "ContainersNotInitialized",
			fmt.Sprintf("containers with incomplete status: [%s]", strings.Join(missing, " ")))
	default:
		p.set(corev1.PodInitialized, true, "", "")
	}
}

// everInitialized holds for a pod whose sidecars have ended after it was initialized.
func (p *pod) everInitialized() bool {
	c := condition(p.status, corev1.PodInitialized)
	return c != nil && c.Status == corev1.ConditionTrue
}

func (p *pod) unready() []string {
	var names []string
	for i, s := range p.status.ContainerStatuses {
		if !s.Ready {
			names = append(names, p.Spec.Containers[i].Name)
		}
	}
	for i, s := range p.status.InitContainerStatuses {
		if sidecar(&p.Spec.InitContainers[i]) && !s.Ready {
			names = append(names, p.Spec.InitContainers[i].Name)
		}
	}
	return names
}

// openGates says of each readiness gate that is not true what it is instead.
func (p *pod) openGates() []string {
	var open []string
	for _, g := range p.Spec.ReadinessGates {
		switch c := condition(p.status, g.ConditionType); {
		case c == nil:
			open = append(open, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", g.ConditionType))
		case c.Status != corev1.ConditionTrue:
			open = append(open, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", g.ConditionType, c.Status))
		}
	}
	return open
}

func condition(s *corev1.PodStatus, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}

// set puts in one of the node's conditions; while its status stays, so does its transition time.
func (p *pod) set(kind corev1.PodConditionType, holds bool, reason, message string) {
	c := corev1.PodCondition{
		Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: p.Generation, LastTransitionTime: metav1.NewTime(p.now),
	}
	if holds {
		c.Status = corev1.ConditionTrue
	}
	if old := condition(p.status, kind); old != nil && old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	setCondition(p.status, c)
}

func setCondition(s *corev1.PodStatus, c corev1.PodCondition) {
	if old := condition(s, c.Type); old != nil {
		*old = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}

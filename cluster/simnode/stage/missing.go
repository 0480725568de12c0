package stage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Missing is what a pod refers to and its node cannot get, so that containers are not created. The zero value is
// nothing.
type Missing struct {
	Volumes    []Event            // why volumes are not mounted, without which no container of the pod is created
	Containers map[string]Refusal // why containers are not created, by their names
}

// None reports whether nothing is missing.
func (m Missing) None() bool { return len(m.Volumes) == 0 && len(m.Containers) == 0 }

// Refusal is why a container is not created when its turn comes.
type Refusal struct {
	Reason, Message string // of its waiting state
	Events          []Event
}

// Event is what a kubelet reports about a pod, or about one of its containers.
type Event struct {
	Container             string // empty: the pod
	Type, Reason, Message string
}

// AwaitsImage reports whether a container of a pod with this status waits for an image that is not pulled.
func AwaitsImage(status *corev1.PodStatus) bool {
	awaits := func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && s.State.Waiting.Reason == ReasonNeverPulled
	}
	return slices.ContainsFunc(status.InitContainerStatuses, awaits) || slices.ContainsFunc(status.ContainerStatuses, awaits)
}

// Rejected is the status of a pod that its node does not take, as a kubelet writes it: without conditions and
// containers.
func Rejected(pod *corev1.Pod, reason, message string, now metav1.Time) corev1.PodStatus {
	s := *pod.Status.DeepCopy()
	s.Phase, s.Reason, s.Message = corev1.PodFailed, reason, "Pod was rejected: "+message
	s.StartTime = &now
	return s
}

// mounted reports whether the pod has its volumes. It keeps them once it has a sandbox.
func (p *pod) mounted() bool {
	c := condition(p.status, corev1.PodReadyToStartContainers)
	return len(p.missing.Volumes) == 0 || c != nil && c.Status == corev1.ConditionTrue
}

package stage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Host is where a pod runs.
type Host struct {
	NodeIP string // the node's address
	PodIP  string // the pod's own address; unused for a pod on the host's network
}

// Input is all that a pod's next stage depends on.
type Input struct {
	Pod *corev1.Pod
	// Status is what the node knows of the pod: what Next returned last, or after a restart what the API server
	// shows. The two differ in that the API server keeps whole seconds only.
	Status  corev1.PodStatus
	Plan    Plan
	Missing Missing
	Host    Host
	Now     time.Time
}

// Step is a pod's next stage.
type Step struct {
	Status corev1.PodStatus // to be reported
	Wake   time.Time        // when to call Next again; zero: when the pod changes
	Remove bool             // the deleted pod has ended: the API server may remove it
	Events []Event          // what there is to report now; the same ones again while the pod stays as it is
}

// Next computes the pod's stage at in.Now. It changes nothing that in points to.
func Next(in Input) Step {
	p := pod{Pod: in.Pod, plan: in.Plan, missing: in.Missing, now: in.Now, status: merge(in.Pod.Status, in.Status)}
	if Terminal(p.status.Phase) {
		return p.ended()
	}
	p.settle(in.Host)
	wake, end := p.ending()
	if end != nil {
		wake = p.stop(*end)
	} else {
		wake = earliest(wake, p.advance())
	}
	p.status.Phase = p.phase()
	if Terminal(p.status.Phase) {
		p.stop(ending{grace: Never}) // the sidecars, at once
	}
	p.setConditions()
	if Terminal(p.status.Phase) {
		return p.ended()
	}
	return Step{Status: *p.status, Wake: wake, Events: p.events}
}

// merge is the API server's status with the node's own knowledge in what is the node's to say. A phase that is final
// stays, whoever wrote it.
func merge(api, known corev1.PodStatus) *corev1.PodStatus {
	s := api.DeepCopy()
	if Terminal(api.Phase) {
		return s
	}
	known = *known.DeepCopy()
	s.ObservedGeneration, s.Phase, s.Reason, s.Message = known.ObservedGeneration, known.Phase, known.Reason, known.Message
	s.StartTime, s.HostIP, s.HostIPs, s.PodIP, s.PodIPs = known.StartTime, known.HostIP, known.HostIPs, known.PodIP, known.PodIPs
	s.InitContainerStatuses, s.ContainerStatuses = known.InitContainerStatuses, known.ContainerStatuses
	s.EphemeralContainerStatuses = known.EphemeralContainerStatuses
	for _, c := range known.Conditions {
		if ours(c.Type) || c.Type == corev1.PodScheduled && condition(s, c.Type) == nil {
			setCondition(s, c)
		}
	}
	return s
}

// pod is a pod on its way to its next stage.
type pod struct {
	*corev1.Pod
	plan    Plan
	missing Missing
	now     time.Time
	status  *corev1.PodStatus
	events  []Event
}

// Terminal reports whether a pod's phase is final.
func Terminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// ended is the last stage. A pod whose grace period is zero is already being removed, or waits for its finalizers.
func (p *pod) ended() Step {
	grace := p.DeletionGracePeriodSeconds
	return Step{Status: *p.status, Remove: p.DeletionTimestamp != nil && (grace == nil || *grace > 0)}
}

// settle sets what a pod has from the moment its node accepts it.
func (p *pod) settle(host Host) {
	p.status.ObservedGeneration = p.Generation
	if p.status.StartTime == nil {
		start := metav1.NewTime(p.now)
		p.status.StartTime = &start
	}
	ip := host.PodIP
	if p.Spec.HostNetwork {
		ip = host.NodeIP
	}
	p.status.HostIP, p.status.HostIPs = host.NodeIP, []corev1.HostIP{{IP: host.NodeIP}}
	if p.mounted() {
		p.status.PodIP, p.status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	p.status.InitContainerStatuses = statuses(p.Spec.InitContainers, p.status.InitContainerStatuses, reasonInitializing)
	waiting := reasonCreating
	if len(p.Spec.InitContainers) > 0 {
		waiting = reasonInitializing
	}
	p.status.ContainerStatuses = statuses(p.Spec.Containers, p.status.ContainerStatuses, waiting)
	p.settleEphemeral()
}

// settleEphemeral ends the containers that `kubectl debug` adds before it waits for them: there is nothing that they
// could look at.
func (p *pod) settleEphemeral() {
	for _, c := range p.Spec.EphemeralContainers[min(len(p.status.EphemeralContainerStatuses), len(p.Spec.EphemeralContainers)):] {
		at := metav1.NewTime(p.now)
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image, ContainerID: containerID(p.UID, c.Name, 0)}
		s.State.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: reasonError, Message: "no process runs in a simulated pod, so there is nothing to debug",
			StartedAt: at, FinishedAt: at, ContainerID: s.ContainerID,
		}
		p.status.EphemeralContainerStatuses = append(p.status.EphemeralContainerStatuses, s)
	}
}

// statuses has one status for each container, in their order: the known one or one that waits.
func statuses(containers []corev1.Container, known []corev1.ContainerStatus, waiting string) []corev1.ContainerStatus {
	byName := map[string]corev1.ContainerStatus{}
	for _, s := range known {
		byName[s.Name] = s
	}
	var result []corev1.ContainerStatus
	for _, c := range containers {
		s, ok := byName[c.Name]
		if !ok {
			no := false
			s = corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: &no}
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: waiting}
		}
		s.Resources, s.AllocatedResources = c.Resources.DeepCopy(), c.Resources.Requests.DeepCopy()
		result = append(result, s)
	}
	return result
}

// ending is a pod's being told to end: when, and how long its containers may take.
type ending struct {
	since time.Time
	grace time.Duration
}

// ending is how the pod was told to end, if it was; else wake is when that will happen by itself.
func (p *pod) ending() (wake time.Time, end *ending) {
	if p.DeletionTimestamp != nil {
		grace := seconds(p.DeletionGracePeriodSeconds)
		return time.Time{}, &ending{since: p.DeletionTimestamp.Add(-grace), grace: grace}
	}
	if p.Spec.ActiveDeadlineSeconds == nil {
		return time.Time{}, nil
	}
	due := p.status.StartTime.Add(seconds(p.Spec.ActiveDeadlineSeconds))
	if p.now.Before(due) {
		return due, nil
	}
	p.status.Reason = reasonDeadline
	p.status.Message = "Pod was active on the node longer than the specified deadline"
	return time.Time{}, &ending{since: due, grace: seconds(p.Spec.TerminationGracePeriodSeconds)}
}

func seconds(n *int64) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Second
}

// advance moves the containers as far as the time allows: init containers one after the other, then the others
// together.
func (p *pod) advance() (wake time.Time) {
	if !p.mounted() {
		p.events = append(p.events, p.missing.Volumes...)
		return time.Time{}
	}
	since := p.status.StartTime.Time
	for i := range p.Spec.InitContainers {
		r := p.initRun(i)
		wake = earliest(wake, r.advance(since, p.now))
		switch turn, passed := r.passed(); {
		case passed:
			since = turn
		case !p.everInitialized():
			return wake
		}
	}
	for i := range p.Spec.Containers {
		wake = earliest(wake, p.run(i).advance(since, p.now))
	}
	return wake
}

// stop ends all containers, the sidecars after the others, and returns when the next one will have ended.
func (p *pod) stop(e ending) (wake time.Time) {
	initialized := p.initialized()
	for i := range p.Spec.Containers {
		wake = earliest(wake, p.run(i).stop(initialized, e, p.now))
	}
	if !wake.IsZero() {
		return wake
	}
	for i := range p.Spec.InitContainers {
		wake = earliest(wake, p.initRun(i).stop(false, e, p.now))
	}
	return wake
}

func (p *pod) run(i int) run {
	c := &p.Spec.Containers[i]
	return run{pod: p, spec: c, status: &p.status.ContainerStatuses[i], outcome: p.plan.Of(c.Name), policy: restartPolicy(p.Pod, c)}
}

func (p *pod) initRun(i int) run {
	c := &p.Spec.InitContainers[i]
	r := run{pod: p, spec: c, status: &p.status.InitContainerStatuses[i], outcome: p.plan.Of(c.Name), policy: initRestartPolicy(p.Pod, c)}
	if sidecar(c) {
		r.policy = corev1.RestartPolicyAlways
	}
	return r
}

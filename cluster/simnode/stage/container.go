package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/kubernetes/pkg/kubelet/util/format"
)

// Reasons that a kubelet and its runtime give for a container's state.
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
	reasonBackOff      = "CrashLoopBackOff"
	reasonCompleted    = "Completed"
	reasonError        = "Error"
	reasonUnknown      = "ContainerStatusUnknown"
	reasonPullFailed   = "ErrImagePull"
	reasonPullBackOff  = "ImagePullBackOff"
	reasonDeadline     = "DeadlineExceeded" // of a pod
)

// Reasons that a kubelet gives for not creating a container, in a [Refusal].
const (
	ReasonInvalidImage = "InvalidImageName"
	ReasonNeverPulled  = "ErrImageNeverPull"
	ReasonConfig       = "CreateContainerConfigError"
)

const (
	exitTerminated = 143 // 128 + SIGTERM: a program that does not handle it
	exitKilled     = 137 // 128 + SIGKILL: also what is reported for a container that never ran
)

// The kubelet waits 10 s before the first restart that follows a restart, doubles that each time up to five
// minutes, and begins anew after a run of ten minutes.
const (
	backOffFirst = 10 * time.Second
	backOffMost  = 5 * time.Minute
	backOffReset = 10 * time.Minute
	// pullShown is the part of the wait for which a failed pull is shown as such, before the wait itself is.
	pullShown = 5
)

// run is one container on its way: what it should do, and what has become of it.
type run struct {
	pod     *pod
	spec    *corev1.Container
	status  *corev1.ContainerStatus
	outcome Outcome
	policy  corev1.RestartPolicy
}

// advance moves the container as far as now allows and returns when it will change again, the zero time for not by
// itself. since is when its turn to start came.
func (r run) advance(since, now time.Time) (wake time.Time) {
	for {
		var moved bool
		switch state := r.status.State; {
		case state.Running != nil:
			moved, wake = r.whileRunning(state.Running.StartedAt.Time, now)
		case state.Terminated != nil:
			moved, wake = r.whileTerminated(state.Terminated, now)
		case r.restarting():
			moved, wake = r.startAt(r.status.LastTerminationState.Terminated.FinishedAt.Add(r.backOff()), now)
			if !moved && !wake.IsZero() {
				r.report(corev1.EventTypeWarning, events.BackOffStartContainer,
					fmt.Sprintf("Back-off restarting failed container %s in pod %s", r.spec.Name, format.Pod(r.pod.Pod)))
			}
		default:
			moved, wake = r.startAt(after(since, r.outcome.Start), now)
		}
		if !moved {
			return wake
		}
	}
}

// restarting reports whether the container waits for a start after its first one.
func (r run) restarting() bool {
	return r.status.State.Waiting != nil && r.status.LastTerminationState.Terminated != nil
}

func (r run) report(kind, reason, message string) {
	r.pod.events = append(r.pod.events, Event{Container: r.spec.Name, Type: kind, Reason: reason, Message: message})
}

func (r run) startAt(due, now time.Time) (moved bool, wake time.Time) {
	if due.IsZero() || now.Before(due) {
		return false, due
	}
	if r.outcome.NoImage && r.status.ContainerID == "" {
		return false, r.pull(due, now)
	}
	if refusal, ok := r.pod.missing.Containers[r.spec.Name]; ok {
		r.wait(refusal.Reason, refusal.Message)
		r.pod.events = append(r.pod.events, refusal.Events...)
		return false, time.Time{}
	}
	if r.status.ContainerID != "" {
		r.status.RestartCount++
	}
	r.start(now)
	return true, time.Time{}
}

// pull fails to pull the image. The tries and the waits between them follow from the time alone.
func (r run) pull(since, now time.Time) (wake time.Time) {
	failed := fmt.Sprintf("failed to pull image %q: simulated", r.spec.Image)
	for try := int32(1); ; try++ {
		wait := r.waitBefore(try)
		shown, next := since.Add(wait/pullShown), since.Add(wait)
		switch {
		case now.Before(shown):
			r.wait(reasonPullFailed, failed)
			r.report(corev1.EventTypeWarning, events.FailedToPullImage, fmt.Sprintf("Failed to pull image %q: %s", r.spec.Image, failed))
			r.report(corev1.EventTypeWarning, events.FailedToCreateContainer, "Error: "+reasonPullFailed)
			return shown
		case now.Before(next):
			r.wait(reasonPullBackOff, fmt.Sprintf("Back-off pulling image %q: %s: %s", r.spec.Image, reasonPullFailed, failed))
			r.report(corev1.EventTypeNormal, events.BackOffPullImage, fmt.Sprintf("Back-off pulling image %q", r.spec.Image))
			r.report(corev1.EventTypeWarning, events.FailedToCreateContainer, "Error: "+reasonPullBackOff)
			return next
		}
		since = next
	}
}

func (r run) wait(reason, message string) {
	r.status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func (r run) start(now time.Time) {
	started := true
	r.status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}}
	r.status.Started = &started
	r.status.Image, r.status.ImageID = r.spec.Image, r.spec.Image
	r.status.ContainerID = containerID(r.pod.UID, r.spec.Name, r.status.RestartCount)
}

func (r run) whileRunning(started, now time.Time) (moved bool, wake time.Time) {
	outcome := r.outcome.during(r.status.RestartCount, r.policy)
	if end := after(started, outcome.Run); !end.IsZero() {
		if !now.Before(end) {
			r.terminate(outcome.ExitCode, now)
			r.leave(outcome)
			return true, time.Time{}
		}
		wake = end
	}
	ready := after(started, r.outcome.Ready)
	r.status.Ready = !ready.IsZero() && !now.Before(ready)
	if !r.status.Ready {
		wake = earliest(wake, ready)
	}
	return false, wake
}

func (r run) whileTerminated(ended *corev1.ContainerStateTerminated, now time.Time) (moved bool, wake time.Time) {
	if !restarts(r.policy, ended.ExitCode) {
		return false, time.Time{}
	}
	r.status.LastTerminationState = corev1.ContainerState{Terminated: ended}
	r.status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason:  reasonBackOff,
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", r.backOff(), r.spec.Name, format.Pod(r.pod.Pod)),
	}}
	return true, time.Time{}
}

// terminate ends the container, whatever it was doing.
func (r run) terminate(exitCode int32, now time.Time) {
	ended := &corev1.ContainerStateTerminated{ExitCode: exitCode, FinishedAt: metav1.NewTime(now), ContainerID: r.status.ContainerID}
	switch running := r.status.State.Running; {
	case running == nil:
		ended.Reason, ended.FinishedAt = reasonUnknown, metav1.Time{}
		ended.Message = "The container could not be located when the pod was terminated"
	case exitCode == 0:
		ended.Reason, ended.StartedAt = reasonCompleted, running.StartedAt
	default:
		ended.Reason, ended.StartedAt = reasonError, running.StartedAt
	}
	stopped := false
	r.status.State, r.status.Ready, r.status.Started = corev1.ContainerState{Terminated: ended}, false, &stopped
}

// leave records what the container that has just ended says of it.
func (r run) leave(o Outcome) {
	ended := r.status.State.Terminated
	if o.Reason != "" {
		ended.Reason = o.Reason
	}
	ended.Message = o.Message
}

// stop ends the container because its pod is being ended, and returns when it will have ended if that takes a while.
// One that never ran is left waiting, unless the pod got as far as starting it.
func (r run) stop(initialized bool, e ending, now time.Time) (wake time.Time) {
	switch {
	case r.status.State.Running != nil:
		due, exitCode := e.since.Add(r.outcome.Stop), int32(exitTerminated)
		if r.outcome.Stop > e.grace {
			due, exitCode = e.since.Add(e.grace), exitKilled
		}
		if r.outcome.Stop > 0 && now.Before(due) {
			return due
		}
		r.terminate(exitCode, now)
	case r.status.State.Waiting != nil && initialized:
		r.terminate(exitKilled, now)
	}
	return time.Time{}
}

// passed tells whether the next init container's turn has come, and since when.
func (r run) passed() (since time.Time, ok bool) {
	switch state := r.status.State; {
	case sidecar(r.spec):
		if state.Running != nil {
			return state.Running.StartedAt.Time, true
		}
	case state.Terminated != nil && state.Terminated.ExitCode == 0:
		r.status.Ready = true
		return state.Terminated.FinishedAt.Time, true
	}
	return time.Time{}, false
}

// backOff is how long the container waits for its next restart. The first one is immediate.
func (r run) backOff() time.Duration {
	last := r.status.LastTerminationState.Terminated
	if r.status.RestartCount == 0 || last.FinishedAt.Sub(last.StartedAt.Time) >= backOffReset {
		return 0
	}
	return r.waitBefore(r.status.RestartCount)
}

// waitBefore is the wait that comes before the nth further try.
func (r run) waitBefore(n int32) time.Duration {
	wait := r.outcome.BackOff
	if wait == 0 {
		wait = backOffFirst
	}
	for range n - 1 {
		if wait *= 2; wait >= backOffMost {
			return backOffMost
		}
	}
	return min(wait, backOffMost)
}

func containerID(pod types.UID, container string, restart int32) string {
	sum := sha256.Sum256([]byte(string(pod) + "/" + container + "/" + strconv.Itoa(int(restart))))
	return "slipway://" + hex.EncodeToString(sum[:])
}

// after is the zero time for what never happens.
func after(t time.Time, d time.Duration) time.Time {
	if d == Never {
		return time.Time{}
	}
	return t.Add(d)
}

// earliest ignores zero times.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

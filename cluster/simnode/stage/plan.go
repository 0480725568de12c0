package stage

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Never is how long something takes that does not happen.
const Never = time.Duration(math.MaxInt64)

// JobRun is how long a container runs by default when its pod does not restart it on success, as those of Jobs do not.
const JobRun = 500 * time.Millisecond

// Outcome is how one container behaves each time it is run.
type Outcome struct {
	Start    time.Duration // from the moment its turn comes until it runs
	Ready    time.Duration // from running until ready; Never for one that does not get ready
	Run      time.Duration // from running until it ends by itself; Never for one that runs until it is stopped
	ExitCode int32         // its exit code when it ends by itself
	Reason   string        // what its last state is called then; empty: Completed or Error, after the exit code
	Message  string        // what it leaves as its termination message then
	// Runs is how many of its runs, from the first one on, end by themselves; those that follow go on until they are
	// stopped, or succeed where nothing restarts on success. Zero: all.
	Runs int32
	// BackOff is the first wait before a restart, or before the next try to pull an image; each later one is twice as
	// long. Zero: the kubelet's ten seconds.
	BackOff time.Duration
	Stop    time.Duration // from the order to stop until it ends; when the grace period is shorter it is killed
	NoImage bool          // its image cannot be pulled
	// HasImage says that its image is there, also for a pod that forbids the pull.
	HasImage bool
	// CPU and Memory are what it uses while it runs.
	CPU, Memory Amount
}

// Plan holds the outcomes of a pod's containers, init containers included, by name. A container that is not in
// it starts at once and runs until it is stopped.
type Plan map[string]Outcome

// DefaultPlan is the ordinary life of a pod: init containers end at once, sidecars and containers that are always
// restarted run until they are stopped, others run for [JobRun]. All succeed.
func DefaultPlan(pod *corev1.Pod) Plan {
	plan := Plan{}
	for _, c := range pod.Spec.InitContainers {
		if !sidecar(&c) {
			plan[c.Name] = Outcome{Run: 0}
		}
	}
	for _, c := range pod.Spec.Containers {
		if restartPolicy(pod, &c) != corev1.RestartPolicyAlways {
			plan[c.Name] = Outcome{Run: JobRun}
		}
	}
	return plan
}

// Of is the outcome of the container of that name.
func (p Plan) Of(container string) Outcome {
	if o, ok := p[container]; ok {
		return o
	}
	return Outcome{Run: Never}
}

// during is the outcome of the run that follows that many restarts.
func (o Outcome) during(restarts int32, policy corev1.RestartPolicy) Outcome {
	if o.Runs == 0 || restarts < o.Runs {
		return o
	}
	o.ExitCode, o.Reason, o.Message = 0, "", ""
	if policy == corev1.RestartPolicyAlways {
		o.Run = Never
	}
	return o
}

// sidecar tells whether an init container keeps running beside the others.
func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// restartPolicy is the policy that holds for one ordinary container: its own, else its pod's.
func restartPolicy(pod *corev1.Pod, c *corev1.Container) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	return pod.Spec.RestartPolicy
}

// initRestartPolicy is the same for an init container that has to succeed: Always means as often as it takes.
func initRestartPolicy(pod *corev1.Pod, c *corev1.Container) corev1.RestartPolicy {
	if p := restartPolicy(pod, c); p != corev1.RestartPolicyAlways {
		return p
	}
	return corev1.RestartPolicyOnFailure
}

func restarts(policy corev1.RestartPolicy, exitCode int32) bool {
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && exitCode != 0
}

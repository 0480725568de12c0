package stage

import (
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Habit is what becomes of pods whose annotations do not decide it.
type Habit string

// The habits. The zero value is the ordinary life, [Complete].
const (
	Pending  Habit = "pending"  // containers are being created for good; init containers succeed
	Running  Habit = "running"  // containers run until they are stopped, those of Jobs as well
	Complete Habit = "complete" // see [DefaultPlan]
)

// ErrHabit marks a habit that there is not.
var ErrHabit = errors.New("invalid habit of simulated pods")

// Validate reports a word that is no habit, as an [ErrHabit].
func (h Habit) Validate() error {
	switch h {
	case "", Pending, Running, Complete:
		return nil
	}
	return fmt.Errorf("%w: %q: expected %s, %s or %s", ErrHabit, string(h), Pending, Running, Complete)
}

// Habits are those of a cluster.
type Habits struct {
	Pods Habit
	Jobs Habit // of the pods of Jobs; empty: the same as Pods
}

// Validate reports what is no habit, as an [ErrHabit].
func (h Habits) Validate() error { return errors.Join(h.Pods.Validate(), h.Jobs.Validate()) }

// of is the habit of a pod.
func (h Habits) of(pod *corev1.Pod) Habit {
	owner := metav1.GetControllerOf(pod)
	if h.Jobs != "" && owner != nil && owner.Kind == "Job" && owner.APIVersion == batchv1.SchemeGroupVersion.String() {
		return h.Jobs
	}
	return h.Pods
}

// plan is the plan of a pod without annotations.
func (h Habits) plan(pod *corev1.Pod) Plan {
	plan := DefaultPlan(pod)
	var start time.Duration
	switch h.of(pod) {
	case Pending:
		start = Never
	case Running:
	default:
		return plan
	}
	for _, name := range ordinary(pod) {
		plan[name] = Outcome{Start: start, Run: Never}
	}
	return plan
}

package stage_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// TestHabits: what becomes of a pod in a cluster with a habit, and that the pod's own annotations win.
func TestHabits(t *testing.T) {
	server := func(annotations map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways,
			InitContainers: []corev1.Container{{Name: "i"}}, Containers: []corev1.Container{{Name: "c"}}}}
	}
	job := func(annotations map[string]string) *corev1.Pod {
		p := server(annotations)
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", Controller: new(true)}}
		return p
	}
	foreign := job(nil)
	foreign.OwnerReferences[0].APIVersion = "example.com/v1"
	const annotation = stage.Domain + "/"
	for name, tt := range map[string]struct {
		habits stage.Habits
		pod    *corev1.Pod
		want   stage.Outcome // of the container
	}{
		"nothing said":                {stage.Habits{}, job(nil), stage.Outcome{Run: stage.JobRun}},
		"complete":                    {stage.Habits{Pods: stage.Complete}, job(nil), stage.Outcome{Run: stage.JobRun}},
		"pending":                     {stage.Habits{Pods: stage.Pending}, server(nil), stage.Outcome{Start: stage.Never, Run: stage.Never}},
		"pending, also a Job's":       {stage.Habits{Pods: stage.Pending}, job(nil), stage.Outcome{Start: stage.Never, Run: stage.Never}},
		"running":                     {stage.Habits{Pods: stage.Running}, job(nil), stage.Outcome{Run: stage.Never}},
		"Jobs are others":             {stage.Habits{Pods: stage.Pending, Jobs: stage.Complete}, job(nil), stage.Outcome{Run: stage.JobRun}},
		"Jobs run":                    {stage.Habits{Jobs: stage.Running}, job(nil), stage.Outcome{Run: stage.Never}},
		"Jobs run, a server goes on":  {stage.Habits{Jobs: stage.Pending}, server(nil), stage.Outcome{Run: stage.Never}},
		"another kind of Job":         {stage.Habits{Jobs: stage.Running}, foreign, stage.Outcome{Run: stage.JobRun}},
		"an annotation lets it start": {stage.Habits{Pods: stage.Pending}, server(map[string]string{annotation + "start-after": "0s"}), stage.Outcome{Run: stage.Never}},
		"an annotation ends a Job":    {stage.Habits{Jobs: stage.Running}, job(map[string]string{annotation + "exit-code": "3"}), stage.Outcome{Run: stage.JobRun, ExitCode: 3}},
	} {
		plan, problems := tt.habits.PlanFor(tt.pod)
		if got := plan.Of("c"); got != tt.want || len(problems) > 0 {
			t.Errorf("%s: %+v, %v; want %+v", name, got, problems, tt.want)
		}
		if init := plan.Of("i"); init != (stage.Outcome{}) {
			t.Errorf("%s: the init container %+v", name, init)
		}
	}
	if err := (stage.Habits{Pods: "walking"}).Validate(); !errors.Is(err, stage.ErrHabit) {
		t.Errorf("no habit: %v", err)
	}
}

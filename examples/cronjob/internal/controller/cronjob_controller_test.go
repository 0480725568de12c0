// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

func TestRunStartsWhenDue(t *testing.T) {
	t.Parallel()
	f := newFixture(t)

	if got := f.reconcileAt("00:59:58"); got.RequeueAfter != 2*time.Second {
		t.Errorf("before the run: requeue after %v, want 2s", got.RequeueAfter)
	}
	f.wantRuns()

	if got := f.reconcileAt("01:00:05"); got.RequeueAfter != longestSleep {
		t.Errorf("at the run: requeue after %v, want %v", got.RequeueAfter, longestSleep)
	}
	f.wantRuns("01:00:00")
	f.wantEvents("Normal JobCreated")

	job := f.run("01:00:00")
	if got, want := job.Name, "hourly-2524611600"; got != want {
		t.Errorf("name %s, want %s", got, want)
	}
	if got, want := job.Annotations[scheduledAtAnnotation], "2050-01-01T01:00:00Z"; got != want {
		t.Errorf("scheduled at %s, want %s", got, want)
	}
	if !metav1.IsControlledBy(job, f.cronJob) {
		t.Errorf("not controlled by the CronJob: %v", job.OwnerReferences)
	}

	f.reconcileAt("01:00:06")
	f.reconcileAt("01:59:59")
	f.wantRuns("01:00:00")
}

func TestOfMissedRunsTheLatestStarts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("05:20:00")
	f.wantRuns("05:00:00")
}

func TestFirstRunIsCountedFromCreation(t *testing.T) {
	t.Parallel()
	f := newFixtureWithoutRuns(t)
	firstRun := f.cronJob.CreationTimestamp.UTC().Truncate(time.Hour).Add(time.Hour)

	f.reconcileAtTime(firstRun.Add(-time.Second))
	f.wantRuns()
	f.reconcileAtTime(firstRun)
	f.wantRuns(firstRun.Format(time.TimeOnly))
}

func TestStatusFollowsTheJobs(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("01:00:00")
	f.reconcileAt("01:00:01")

	status, job := f.current().Status, f.run("01:00:00")
	want := corev1.ObjectReference{
		APIVersion: "batch/v1", Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID,
	}
	if len(status.Active) != 1 || status.Active[0] != want {
		t.Errorf("active: got %v, want %v", status.Active, want)
	}
	f.wantLastSchedule("01:00:00")
	f.wantSchedulable(metav1.ConditionTrue, batchv1.ReasonScheduled)

	f.finish(job, kbatch.JobComplete)
	f.reconcileAt("01:00:02")
	if active := f.current().Status.Active; len(active) != 0 {
		t.Errorf("active after the Job finished: %v", active)
	}

	if err := k8sClient.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	f.reconcileAt("01:00:03")
	f.wantLastSchedule("01:00:00")
	f.wantRuns()
}

func TestStatusIsRebuilt(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("01:00:00")
	f.reconcileAt("01:00:01")
	want := f.current().Status

	lost := f.current()
	lost.Status = batchv1.CronJobStatus{}
	if err := k8sClient.Status().Update(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	f.reconcileAt("01:00:02")
	got := f.current().Status
	if len(got.Active) != 1 || got.Active[0] != want.Active[0] || !got.LastScheduleTime.Equal(want.LastScheduleTime) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNothingIsWrittenWhenNothingChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("01:00:00")
	f.reconcileAt("01:00:01")
	before := f.current().ResourceVersion

	f.Client = readOnlyClient(t)
	for _, clock := range []string{"01:00:02", "01:30:00", "01:59:59"} {
		f.reconcileAt(clock)
	}
	if got := f.current().ResourceVersion; got != before {
		t.Errorf("the CronJob was written: resource version %s, before %s", got, before)
	}
	if _, err := f.tryReconcileAt(at(t, "02:00:00")); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, but the next run cannot be started without a write", err)
	}
}

func TestStartingDeadline(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.StartingDeadlineSeconds = ptr.To[int64](60) })

	if got := f.reconcileAt("01:01:01"); got.RequeueAfter != longestSleep {
		t.Errorf("requeue after %v, want %v", got.RequeueAfter, longestSleep)
	}
	f.wantRuns()
	f.wantCondition(batchv1.ConditionStarted, metav1.ConditionFalse, batchv1.ReasonMissedDeadline)
	f.wantEvents("Warning MissedDeadline")
	f.reconcileAt("02:01:00")
	f.wantRuns("02:00:00")
}

func TestConcurrencyPolicy(t *testing.T) {
	t.Parallel()
	for policy, want := range map[batchv1.ConcurrencyPolicy][]string{
		"":                        {"01:00:00", "02:00:00"},
		batchv1.AllowConcurrent:   {"01:00:00", "02:00:00"},
		batchv1.ForbidConcurrent:  {"01:00:00"},
		batchv1.ReplaceConcurrent: {"02:00:00"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = policy })
			f.reconcileAt("01:00:00")
			if got := f.reconcileAt("02:00:05"); got.RequeueAfter != longestSleep {
				t.Errorf("requeue after %v, want %v", got.RequeueAfter, longestSleep)
			}
			f.wantRuns(want...)
		})
	}
}

func TestForbiddenRunStartsAfterTheActiveOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = batchv1.ForbidConcurrent })
	f.reconcileAt("01:00:00")
	f.reconcileAt("02:00:00")
	f.wantCondition(batchv1.ConditionStarted, metav1.ConditionFalse, batchv1.ReasonHeldBack)
	f.finish(f.run("01:00:00"), kbatch.JobFailed)
	f.reconcileAt("02:10:00")
	f.wantRuns("01:00:00", "02:00:00")
	f.wantCondition(batchv1.ConditionStarted, metav1.ConditionTrue, batchv1.ReasonJobCreated)
}

func TestReplaceSparesFinishedJobs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = batchv1.ReplaceConcurrent })
	f.reconcileAt("01:00:00")
	f.finish(f.run("01:00:00"), kbatch.JobComplete)
	f.reconcileAt("02:00:00")
	f.wantRuns("01:00:00", "02:00:00")
}

func TestSuspend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("01:00:00")
	f.changeSpec(func(spec *batchv1.CronJobSpec) { spec.Suspend = ptr.To(true) })

	if got := f.reconcileAt("02:00:00"); got != (ctrl.Result{}) {
		t.Errorf("a suspended CronJob wakes up again: %v", got)
	}
	f.wantRuns("01:00:00")
	f.wantSchedulable(metav1.ConditionFalse, batchv1.ReasonSuspended)
	if active := f.current().Status.Active; len(active) != 1 {
		t.Errorf("active: got %v, want the run that was started before", active)
	}

	f.changeSpec(func(spec *batchv1.CronJobSpec) { spec.Suspend = ptr.To(false) })
	f.reconcileAt("03:00:00")
	f.wantRuns("01:00:00", "03:00:00")
	f.wantSchedulable(metav1.ConditionTrue, batchv1.ReasonScheduled)
}

func TestHistoryLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		succeeded, failed *int32
		want              []string
	}{
		"none": {nil, nil, []string{"01:00:00", "02:00:00", "03:00:00", "04:00:00", "05:00:00"}},
		"both": {ptr.To[int32](1), ptr.To[int32](1), []string{"03:00:00", "04:00:00", "05:00:00"}},
		"zero": {ptr.To[int32](0), nil, []string{"02:00:00", "04:00:00", "05:00:00"}},
		"high": {ptr.To[int32](3), ptr.To[int32](3), []string{"01:00:00", "02:00:00", "03:00:00", "04:00:00", "05:00:00"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startRun("01:00:00", kbatch.JobComplete)
			f.startRun("02:00:00", kbatch.JobFailed)
			f.startRun("03:00:00", kbatch.JobComplete)
			f.startRun("04:00:00", kbatch.JobFailed)
			f.reconcileAt("05:00:00")
			f.changeSpec(func(spec *batchv1.CronJobSpec) {
				spec.SuccessfulJobsHistoryLimit, spec.FailedJobsHistoryLimit = tt.succeeded, tt.failed
			})
			f.reconcileAt("05:00:01")
			f.wantRuns(tt.want...)
		})
	}
}

// A finished Job is deleted only after the status remembers its run, or the run would start again.
func TestTrimmedRunIsNotRepeated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.SuccessfulJobsHistoryLimit = ptr.To[int32](0) })
	f.startRun("01:00:00", kbatch.JobComplete)
	f.forgetRuns()
	f.reconcileAt("01:00:01")
	f.wantRuns("01:00:00")
	f.reconcileAt("01:00:02")
	f.wantRuns()
	f.reconcileAt("01:00:03")
	f.wantRuns()
	f.wantLastSchedule("01:00:00")
}

func TestInvalidSchedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.Schedule = "61 * * * *" })

	if got := f.reconcileAt("01:00:00"); got != (ctrl.Result{}) {
		t.Errorf("it wakes up again: %v", got)
	}
	f.wantEvents("Warning InvalidSchedule")
	f.wantSchedulable(metav1.ConditionFalse, batchv1.ReasonInvalidSchedule)

	f.changeSpec(func(spec *batchv1.CronJobSpec) { spec.Schedule = "0 * * * *" })
	f.reconcileAt("01:00:01")
	f.reconcileAt("02:00:00")
	f.wantRuns("02:00:00")
	f.wantSchedulable(metav1.ConditionTrue, batchv1.ReasonScheduled)
}

// Jobs count only for the CronJob that controls them: not those of others, and not those of an earlier
// CronJob of the same name.
func TestJobsOfOthersDoNotCount(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = batchv1.ForbidConcurrent })
	former := f.cronJob.DeepCopy()
	former.UID = "former"
	for _, job := range []*kbatch.Job{f.jobOwnedBy(former, "00:10:00"), f.jobOwnedBy(nil, "00:20:00")} {
		if err := k8sClient.Create(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	f.reconcileAt("01:00:00")
	f.run("01:00:00")
	if active := f.current().Status.Active; len(active) != 1 || active[0].Name != "hourly-2524611600" {
		t.Errorf("active: %v", active)
	}
}

func TestDeletedCronJobIsLeftAlone(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t)
	cronJob := f.current()
	cronJob.Finalizers = []string{"tutorial.kubebuilder.io/test"}
	f.update(cronJob)
	if err := k8sClient.Delete(t.Context(), cronJob); err != nil {
		t.Fatal(err)
	}
	if got := f.reconcileAt("01:00:00"); got != (ctrl.Result{}) {
		t.Errorf("while it is being deleted: %v", got)
	}
	f.wantRuns()

	cronJob = f.current()
	cronJob.Finalizers = nil
	f.update(cronJob)
	if got := f.reconcileAt("01:00:00"); got != (ctrl.Result{}) {
		t.Errorf("when it is gone: %v", got)
	}
	f.wantRuns()
}

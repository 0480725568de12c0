// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"strings"
	"testing"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// A template that makes no valid Job is reported. It is tried again, since the API server answers in the same
// way when an admission policy refuses a Job for a while.
func TestInvalidTemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) {
		spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	})
	for _, clock := range []string{"01:00:00", "01:00:01"} {
		if _, err := f.tryReconcileAt(at(t, clock)); !apierrors.IsInvalid(err) || errors.Is(err, reconcile.TerminalError(nil)) {
			t.Errorf("got %v, want an error that is repeated", err)
		}
		f.wantCondition(batchv1.ConditionStarted, metav1.ConditionFalse, batchv1.ReasonStartFailed)
	}
	f.wantEvents("Warning StartFailed")

	f.changeSpec(func(spec *batchv1.CronJobSpec) {
		spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	})
	f.reconcileAt("01:10:00")
	f.wantRuns("01:00:00")
	f.wantCondition(batchv1.ConditionStarted, metav1.ConditionTrue, batchv1.ReasonJobCreated)
}

// A Job that cannot be deleted keeps no run from starting.
func TestRunStartsBesideTroubleWithTheHistory(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.SuccessfulJobsHistoryLimit = ptr.To[int32](0) })
	f.startRun("01:00:00", kbatch.JobComplete)
	f.Client = undeletable{k8sClient}
	if _, err := f.tryReconcileAt(at(t, "02:00:00")); !errors.Is(err, errUndeletable) {
		t.Errorf("got %v, want %v", err, errUndeletable)
	}
	f.wantRuns("01:00:00", "02:00:00")
	f.wantLastSchedule("02:00:00")
}

// A cache that does not show the Job yet makes the reconciler start the run a second time.
func TestRunThatExistsIsNotStartedAgain(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("01:00:00")
	before := f.run("01:00:00").UID

	f.forgetRuns()
	f.Client = emptyCache{k8sClient}
	f.reconcileAt("01:00:01")
	f.wantRuns("01:00:00")
	if got := f.run("01:00:00").UID; got != before {
		t.Error("the Job was replaced")
	}
	f.wantLastSchedule("01:00:00")
	if active := f.current().Status.Active; len(active) != 1 || active[0].UID != before {
		t.Errorf("active: %v", active)
	}
}

// A Job of the run's name that is not the CronJob's costs this run, and no other.
func TestNameIsTaken(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t)
	former := f.cronJob.DeepCopy()
	former.UID = "former"
	for _, job := range []*kbatch.Job{f.jobOwnedBy(former, "01:00:00"), f.jobOwnedBy(nil, "02:00:00")} {
		if err := k8sClient.Create(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	for _, clock := range []string{"01:00:00", "02:00:00"} {
		f.reconcileAt(clock)
		f.wantEvents("Warning JobNameTaken")
		f.wantCondition(batchv1.ConditionStarted, metav1.ConditionFalse, batchv1.ReasonJobNameTaken)
		f.wantLastMissed(clock)
		f.wantLastSchedule("00:00:00")
	}
	f.reconcileAt("02:10:00")
	f.wantEvents()
	f.reconcileAt("03:00:00")
	f.wantLastSchedule("03:00:00")
	f.wantCondition(batchv1.ConditionStarted, metav1.ConditionTrue, batchv1.ReasonJobCreated)
	if got := f.run("02:00:00"); len(got.OwnerReferences) > 0 {
		t.Errorf("the other's Job is not as it was: %v", got.OwnerReferences)
	}
}

// An annotation that was edited moves no run: the name of the Job says when it was.
func TestForgedRunTime(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("01:00:00")
	job := f.run("01:00:00")
	job.Annotations[scheduledAtAnnotation] = "2099-01-01T00:00:00Z"
	if err := k8sClient.Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	f.reconcileAt("02:00:00")
	f.run("02:00:00")
}

// A Job whose run is to come, which anyone who may create Jobs can make, neither ends scheduling nor goes into the
// status.
func TestForgedRunToCome(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startRun("01:00:00", kbatch.JobComplete)
	if err := f.Client.Create(t.Context(), f.jobOwnedBy(f.current(), "09:00:00")); err != nil {
		t.Fatal(err)
	}
	f.reconcileAt("02:00:00")
	f.wantRuns("01:00:00", "02:00:00", "09:00:00")
	f.wantSchedulable(metav1.ConditionTrue, batchv1.ReasonScheduled)
}

// What is reported of an error is short enough for an event.
func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"why": "why", strings.Repeat("é", maxMessage): strings.Repeat("é", maxMessage/2) + "…"} {
		if got := short(errors.New(text)); got != want {
			t.Errorf("%d bytes become %d: %s", len(text), len(got), got)
		}
	}
}

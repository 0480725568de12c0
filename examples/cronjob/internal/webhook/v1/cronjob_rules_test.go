// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

func TestDefaults(t *testing.T) {
	cronJob := newCronJob(t)
	cronJob.Spec = batchv1.CronJobSpec{Schedule: cronJob.Spec.Schedule, JobTemplate: cronJob.Spec.JobTemplate}
	create(t, cronJob)

	want := batchv1.CronJobSpec{
		Schedule:                   cronJob.Spec.Schedule,
		JobTemplate:                cronJob.Spec.JobTemplate,
		ConcurrencyPolicy:          batchv1.AllowConcurrent,
		Suspend:                    new(false),
		SuccessfulJobsHistoryLimit: new(int32(3)),
		FailedJobsHistoryLimit:     new(int32(1)),
	}
	if !equality.Semantic.DeepEqual(cronJob.Spec, want) {
		t.Errorf("the defaults are missing:\n%s", diff.Diff(want, cronJob.Spec))
	}
	cronJob.Spec.SuccessfulJobsHistoryLimit = nil
	update(t, cronJob)
	if got := cronJob.Spec.SuccessfulJobsHistoryLimit; got == nil || *got != 3 {
		t.Errorf("the limit is not filled in again on update: %v", got)
	}
}

func TestDefaultsReplaceNothing(t *testing.T) {
	cronJob := newCronJob(t)
	cronJob.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
	cronJob.Spec.Suspend = new(true)
	cronJob.Spec.SuccessfulJobsHistoryLimit = new(int32(0))
	cronJob.Spec.FailedJobsHistoryLimit = new(int32(7))
	want := *cronJob.Spec.DeepCopy()
	create(t, cronJob)
	if !equality.Semantic.DeepEqual(cronJob.Spec, want) {
		t.Errorf("what the author said is replaced:\n%s", diff.Diff(want, cronJob.Spec))
	}
}

func TestSchedule(t *testing.T) {
	k8sClient := controlPlane(t)
	cronJob := newCronJob(t)
	create(t, cronJob)
	for _, schedule := range []string{"61 * * * *", "often", "* * * *", "0 0 30 2 *", "TZ=UTC 0 * * * *"} {
		bad := newCronJob(t)
		bad.Spec.Schedule = schedule
		wantInvalid(t, k8sClient.Create(t.Context(), bad), "spec.schedule")
		changed := cronJob.DeepCopy()
		changed.Spec.Schedule = schedule
		wantInvalid(t, k8sClient.Update(t.Context(), changed), "spec.schedule")
	}
}

func TestNameLength(t *testing.T) {
	k8sClient := controlPlane(t)
	longest, longer := newCronJob(t), newCronJob(t)
	longest.Name, longer.Name = strings.Repeat("a", 52), strings.Repeat("a", 53)
	create(t, longest)
	wantInvalid(t, k8sClient.Create(t.Context(), longer), "metadata.name")
}

// All mistakes are told at once.
func TestMistakes(t *testing.T) {
	k8sClient := controlPlane(t)
	cronJob := newCronJob(t)
	cronJob.Name = strings.Repeat("a", 53)
	cronJob.Spec.Schedule = "often"
	wantInvalid(t, k8sClient.Create(t.Context(), cronJob), "metadata.name", "spec.schedule")
}

// One from a time without webhooks can be changed and deleted; only a new mistake is refused.
func TestBadOneFromBefore(t *testing.T) {
	old := &batchv1.CronJob{}
	old.Name = strings.Repeat("a", 53)
	old.Spec.Schedule = "often"
	old.Finalizers = []string{"example.com/finalizer"}
	validator := &CronJobValidator{}

	changed := old.DeepCopy()
	setDefaults(&changed.Spec) // the other webhook was asked before
	changed.Finalizers, changed.Labels = nil, map[string]string{"a": "b"}
	changed.Spec.Suspend = new(true)
	if _, err := validator.ValidateUpdate(t.Context(), old, changed); err != nil {
		t.Errorf("a change of something else is refused: %v", err)
	}
	changed.Spec.Schedule = "seldom"
	_, err := validator.ValidateUpdate(t.Context(), old, changed)
	wantInvalid(t, err, "spec.schedule")

	changed.DeletionTimestamp = new(metav1.Now())
	if _, err := validator.ValidateUpdate(t.Context(), old, changed); err != nil {
		t.Errorf("one that is being deleted is refused: %v", err)
	}
}

// wantInvalid: the API server refuses the object because of these fields.
func wantInvalid(t *testing.T, err error, want ...string) {
	t.Helper()
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want a refusal because of %v", err, want)
		return
	}
	var status apierrors.APIStatus
	errors.As(err, &status)
	var got []string
	for _, cause := range status.Status().Details.Causes {
		got = append(got, cause.Field)
	}
	if !slices.Equal(got, want) {
		t.Errorf("refused because of %v, want %v: %v", got, want, err)
	}
}

// create creates the object, and deletes it when the test ends.
func create(t *testing.T, object client.Object) {
	t.Helper()
	k8sClient := controlPlane(t)
	if err := k8sClient.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T: %v", object, err)
	}
	t.Cleanup(func() {
		if err := k8sClient.Delete(context.Background(), object); err != nil {
			t.Errorf("delete %T: %v", object, err)
		}
	})
}

func update(t *testing.T, object client.Object) {
	t.Helper()
	k8sClient := controlPlane(t)
	if err := k8sClient.Update(t.Context(), object); err != nil {
		t.Fatalf("update %T: %v", object, err)
	}
}

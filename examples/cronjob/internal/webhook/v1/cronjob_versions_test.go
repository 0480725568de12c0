// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"

	kbatch "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/diff"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	batchv2 "tutorial.kubebuilder.io/project/api/v2"
)

// Objects are created in one version and read in the other; the API server has the manager convert them.
func TestCreatedAsV1(t *testing.T) {
	asV1, asV2 := newCronJob(t), &batchv2.CronJob{}
	asV1.Spec.Schedule = "*/1 * * * *"
	create(t, asV1)
	read(t, asV1, asV2)
	want := batchv2.CronSchedule{Minute: new(batchv2.CronField("*/1"))}
	if !equality.Semantic.DeepEqual(asV2.Spec.Schedule, want) || len(asV2.Annotations) > 0 {
		t.Errorf("as v2: %v, %v", asV2.Annotations, asV2.Spec.Schedule)
	}
}

func TestCreatedAsV2(t *testing.T) {
	k8sClient := controlPlane(t)
	sample := newCronJob(t)
	star := &batchv2.CronJob{ObjectMeta: sample.ObjectMeta}
	star.Spec.JobTemplate = sample.Spec.JobTemplate
	star.Spec.Schedule.Minute, star.Spec.Schedule.Hour = new(batchv2.CronField("*/5")), new(batchv2.CronField("*"))
	create(t, star)
	asV1, again := &batchv1.CronJob{}, &batchv2.CronJob{}
	read(t, star, asV1)
	read(t, star, again)
	if asV1.Spec.Schedule != "*/5 * * * *" || *asV1.Spec.SuccessfulJobsHistoryLimit != 3 {
		t.Errorf("created as v2, read as v1: %v", asV1.Spec)
	}
	if !equality.Semantic.DeepEqual(again, star) {
		t.Errorf("created as v2, read as v2:\n%s", diff.Diff(star, again))
	}

	for value, path := range map[batchv2.CronField]string{"61": "spec.schedule", "1 2": "spec.schedule.minute"} {
		bad := star.DeepCopy()
		bad.Spec.Schedule.Minute = &value
		wantInvalid(t, k8sClient.Update(t.Context(), bad), path)
	}
}

// A field of a wrong type is refused with its path, whatever the version, and not with an internal error.
func TestWrongTypeAsV2(t *testing.T) {
	k8sClient := controlPlane(t)
	wrong := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"schedule": map[string]any{"minute": int64(5)}, "jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "containers": []any{map[string]any{"name": "c", "image": "i"}}}}}}}}}
	wrong.SetGroupVersionKind(batchv2.GroupVersion.WithKind("CronJob"))
	wrong.SetNamespace(newCronJob(t).Namespace)
	wrong.SetName("wrong")
	wantInvalid(t, k8sClient.Create(t.Context(), wrong), "spec.schedule.minute", "<nil>") // rules in CEL were not checked
}

// Labels and annotations of the templates are stored, in both versions.
func TestMetadataOfTemplates(t *testing.T) {
	asV1, asV2 := newCronJob(t), &batchv2.CronJob{}
	template := &asV1.Spec.JobTemplate
	template.Labels, template.Annotations = map[string]string{"job": "label"}, map[string]string{"job": "annotation"}
	template.Spec.Template.Labels = map[string]string{"pod": "label"}
	want := template.DeepCopy()
	create(t, asV1)
	read(t, asV1, asV2)
	for version, got := range map[string]kbatch.JobTemplateSpec{"v1": asV1.Spec.JobTemplate, "v2": asV2.Spec.JobTemplate} {
		if !equality.Semantic.DeepEqual(got.ObjectMeta, want.ObjectMeta) || !equality.Semantic.DeepEqual(got.Spec.Template.Labels, want.Spec.Template.Labels) {
			t.Errorf("%s: %s", version, diff.Diff(want, &got))
		}
	}
}

// What five fields cannot hold survives a change of something else as v2.
func TestChangedAsV2(t *testing.T) {
	k8sClient := controlPlane(t)
	asV1, asV2 := newCronJob(t), &batchv2.CronJob{}
	asV1.Spec.Schedule = "@every 90s"
	create(t, asV1)
	read(t, asV1, asV2)
	if got := asV2.Annotations[batchv2.V1ScheduleAnnotation]; got != "@every 90s" || asV2.Spec.Schedule != (batchv2.CronSchedule{}) {
		t.Errorf("as v2: %v, %v", asV2.Annotations, asV2.Spec.Schedule)
	}
	asV2.Spec.Suspend = new(true)
	update(t, asV2)
	read(t, asV2, asV1)
	if asV1.Spec.Schedule != "@every 90s" || !*asV1.Spec.Suspend || len(asV1.Annotations) > 0 {
		t.Errorf("read as v1: %v, %v", asV1.Spec, asV1.Annotations)
	}

	lost := asV2.DeepCopy()
	lost.Annotations = nil
	wantInvalid(t, k8sClient.Update(t.Context(), lost), "spec.schedule")

	asV2.Spec.Schedule.Minute = new(batchv2.CronField("30"))
	update(t, asV2)
	read(t, asV2, asV1)
	if asV1.Spec.Schedule != "30 * * * *" {
		t.Errorf("with another schedule, read as v1: %v", asV1.Spec)
	}
}

// read reads the object that has the key of another.
func read(t *testing.T, key, into client.Object) {
	t.Helper()
	k8sClient := controlPlane(t)
	if err := k8sClient.Get(t.Context(), client.ObjectKeyFromObject(key), into); err != nil {
		t.Fatal(err)
	}
}

// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

func TestClassify(t *testing.T) {
	got := classify([]kbatch.Job{
		jobAt("active-2", "12:00:00"),
		jobAt("failed", "10:00:00", kbatch.JobFailureTarget, kbatch.JobFailed),
		jobAt("succeeded", "11:00:00", kbatch.JobSuccessCriteriaMet, kbatch.JobComplete),
		jobAt("active-1", "09:00:00", kbatch.JobSuspended),
		jobAt("unreadable", "when it rains"),
	})
	for _, list := range []struct {
		name string
		jobs []*kbatch.Job
		want []string
	}{
		{"active", got.active, []string{"unreadable", "active-1-2524640400", "active-2-2524651200"}},
		{"succeeded", got.succeeded, []string{"succeeded-2524647600"}},
		{"failed", got.failed, []string{"failed-2524644000"}},
	} {
		if names := jobNames(list.jobs); !slices.Equal(names, list.want) {
			t.Errorf("%s: got %v, want %v", list.name, names, list.want)
		}
	}
	if want := epoch.Add(12 * time.Hour); !got.lastRun(want).Equal(want) {
		t.Errorf("last run: got %v, want %v", got.lastRun(want), want)
	}
}

func TestSurplus(t *testing.T) {
	jobs := []*kbatch.Job{ptr.To(jobAt("a", "")), ptr.To(jobAt("b", "")), ptr.To(jobAt("c", ""))}
	for _, tt := range []struct {
		limit *int32
		want  []string
	}{
		{nil, nil},
		{ptr.To[int32](0), []string{"a", "b", "c"}},
		{ptr.To[int32](1), []string{"a", "b"}},
		{ptr.To[int32](3), nil},
		{ptr.To[int32](4), nil},
	} {
		if got := jobNames(surplus(jobs, tt.limit)); !slices.Equal(got, tt.want) {
			t.Errorf("limit %d: got %v, want %v", ptr.Deref(tt.limit, -1), got, tt.want)
		}
	}
}

func TestNewJob(t *testing.T) {
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "zoo", Name: "feed", UID: "1234"}}
	cronJob.Spec.JobTemplate = kbatch.JobTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      map[string]string{"animal": "lion"},
			Annotations: map[string]string{"portion": "large", scheduledAtAnnotation: "forged"},
		},
		Spec: kbatch.JobSpec{Parallelism: ptr.To[int32](2)},
	}
	unchanged := cronJob.DeepCopy()

	job, err := newJob(cronJob, epoch, scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if job.Namespace != "zoo" || job.Name != "feed-2524608000" {
		t.Errorf("got %s/%s, want zoo/feed-2524608000", job.Namespace, job.Name)
	}
	if job.Labels["animal"] != "lion" || job.Annotations["portion"] != "large" {
		t.Errorf("the template's labels and annotations are missing: %v, %v", job.Labels, job.Annotations)
	}
	if got, want := job.Annotations[scheduledAtAnnotation], "2050-01-01T00:00:00Z"; got != want {
		t.Errorf("scheduled at %s, want %s", got, want)
	}
	if ptr.Deref(job.Spec.Parallelism, 0) != 2 {
		t.Error("the template's spec is missing")
	}
	if !metav1.IsControlledBy(job, cronJob) {
		t.Errorf("not controlled by the CronJob: %v", job.OwnerReferences)
	}

	job.Labels["animal"] = "hyena"
	*job.Spec.Parallelism = 3
	if !equality.Semantic.DeepEqual(unchanged, cronJob) {
		t.Errorf("the Job shares memory with the template: %v", cronJob.Spec.JobTemplate)
	}
}

func jobAt(name, clock string, conditions ...kbatch.JobConditionType) kbatch.Job {
	job := kbatch.Job{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if at, err := time.Parse(time.TimeOnly, clock); err == nil {
		run := epoch.Add(at.Sub(at.Truncate(24 * time.Hour)))
		clock = run.Format(time.RFC3339)
		job.Name += nameEnding(run)
	}
	job.Annotations = map[string]string{scheduledAtAnnotation: clock}
	for _, kind := range conditions {
		job.Status.Conditions = append(job.Status.Conditions,
			kbatch.JobCondition{Type: kind, Status: corev1.ConditionTrue})
	}
	return job
}

func jobNames(jobs []*kbatch.Job) []string {
	var names []string
	for _, job := range jobs {
		names = append(names, job.Name)
	}
	return names
}

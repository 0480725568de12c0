// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// scheduledAtAnnotation keeps the time for which a Job's run was scheduled, in RFC 3339.
const scheduledAtAnnotation = "batch.tutorial.kubebuilder.io/scheduled-at"

// childJobs are the Jobs of one CronJob by what became of them, each list from the oldest run to the latest.
type childJobs struct {
	active, succeeded, failed []*kbatch.Job
}

// classify sorts the Jobs of one CronJob.
func classify(jobs []kbatch.Job) childJobs {
	var children childJobs
	for i := range jobs {
		switch job := &jobs[i]; {
		case hasCondition(job, kbatch.JobComplete):
			children.succeeded = append(children.succeeded, job)
		case hasCondition(job, kbatch.JobFailed):
			children.failed = append(children.failed, job)
		default:
			children.active = append(children.active, job)
		}
	}
	for _, list := range [][]*kbatch.Job{children.active, children.succeeded, children.failed} {
		slices.SortFunc(list, compareRuns)
	}
	return children
}

// lastRun returns the latest time up to now for which a Job was scheduled, zero if there is no such Job. Users can make
// Jobs that look like the CronJob's: one for a time to come would end scheduling until then.
func (c childJobs) lastRun(now time.Time) time.Time {
	var last time.Time
	for _, job := range slices.Concat(c.active, c.succeeded, c.failed) {
		if at := scheduledAt(job); !at.After(now) {
			last = later(last, at)
		}
	}
	return last
}

// with returns the Jobs and one more, which may be nil or among them.
func (c childJobs) with(job *kbatch.Job) childJobs {
	if job == nil {
		return c
	}
	all := []kbatch.Job{*job}
	for _, known := range slices.Concat(c.active, c.succeeded, c.failed) {
		if known.UID != job.UID {
			all = append(all, *known)
		}
	}
	return classify(all)
}

func hasCondition(job *kbatch.Job, kind kbatch.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c kbatch.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

func compareRuns(a, b *kbatch.Job) int {
	return cmp.Or(scheduledAt(a).Compare(scheduledAt(b)), cmp.Compare(a.Name, b.Name))
}

// scheduledAt returns the time for which the Job's run was scheduled. A Job on which it cannot be read, or
// whose name says another, counts as older than all others: annotations can be edited, names cannot.
func scheduledAt(job *kbatch.Job) time.Time {
	at, err := time.Parse(time.RFC3339, job.Annotations[scheduledAtAnnotation])
	if err != nil || !strings.HasSuffix(job.Name, nameEnding(at)) {
		return time.Time{}
	}
	return at
}

// nameEnding is what the name of a run's Job ends with.
func nameEnding(at time.Time) string { return fmt.Sprintf("-%d", at.Unix()) }

// surplus returns the oldest of the jobs, those beyond limit. No limit means that all are kept.
func surplus(jobs []*kbatch.Job, limit *int32) []*kbatch.Job {
	if limit == nil {
		return nil
	}
	return jobs[:max(0, len(jobs)-int(*limit))]
}

// newJob makes the Job for the run scheduled at the given time. Its name follows from that time, so the
// same run cannot be started twice.
func newJob(cronJob *batchv1.CronJob, at time.Time, scheme *runtime.Scheme) (*kbatch.Job, error) {
	template := cronJob.Spec.JobTemplate.DeepCopy()
	job := &kbatch.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   cronJob.Namespace,
			Name:        cronJob.Name + nameEnding(at),
			Labels:      template.Labels,
			Annotations: map[string]string{},
		},
		Spec: template.Spec,
	}
	maps.Copy(job.Annotations, template.Annotations)
	job.Annotations[scheduledAtAnnotation] = at.UTC().Format(time.RFC3339)
	if err := ctrl.SetControllerReference(cronJob, job, scheme); err != nil {
		return nil, fmt.Errorf("own Job %s: %w", job.Name, err)
	}
	return job, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Copyright 2026 The mycronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1 "wzj.kubebuilder.io/project/api/v1"
)

// interval is the time between two Jobs.
const interval = 5 * time.Second

// maxUnfinished is how many Jobs of one MyCronJob may be unfinished at once. Jobs that take longer than the interval
// would otherwise fill the cluster.
const maxUnfinished = 10

// maxSkew is how far the clock may be behind the last Job. After more than that the clock was wrong then.
const maxSkew = time.Minute

// slot is the time for which a Job is started: the last multiple of the interval. It gives the Job its name, so two
// passes, or two operators, cannot start two Jobs for it.
func slot(now time.Time) time.Time { return now.UTC().Truncate(interval) }

// untilNext is how long it is until the next slot.
func untilNext(now time.Time) time.Duration { return slot(now).Add(interval).Sub(now) }

// due says whether a Job is to be started for the slot. Slots in which no pass came are not made up for.
func due(status *batchv1.MyCronJobStatus, now time.Time) bool {
	last := status.LastRunTime
	return last == nil || slot(now).After(last.Time) || last.Sub(now) > maxSkew
}

// newJob is the Job for a slot. Its owner is not set yet.
func newJob(myCronJob *batchv1.MyCronJob, at time.Time) *kbatch.Job {
	template := myCronJob.Spec.JobTemplate.DeepCopy()
	return &kbatch.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   myCronJob.Namespace,
			Name:        fmt.Sprintf("%s-%d", myCronJob.Name, at.Unix()),
			Labels:      template.Metadata.Labels,
			Annotations: template.Metadata.Annotations,
		},
		Spec: template.Spec,
	}
}

func isFinished(job *kbatch.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c kbatch.JobCondition) bool {
		return (c.Type == kbatch.JobComplete || c.Type == kbatch.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

func unfinished(jobs []kbatch.Job) int {
	n := 0
	for i := range jobs {
		if !isFinished(&jobs[i]) {
			n++
		}
	}
	return n
}

// surplus returns the oldest of the finished Jobs, those beyond the limit. A Job that is being deleted is no longer
// counted.
func surplus(jobs []kbatch.Job, limit *int32) []*kbatch.Job {
	var finished []*kbatch.Job
	for i := range jobs {
		if isFinished(&jobs[i]) && jobs[i].DeletionTimestamp == nil {
			finished = append(finished, &jobs[i])
		}
	}
	if limit == nil {
		return nil
	}
	slices.SortFunc(finished, func(a, b *kbatch.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return finished[:max(0, len(finished)-int(*limit))]
}

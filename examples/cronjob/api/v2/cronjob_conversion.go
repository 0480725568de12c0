// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// ConvertTo makes this CronJob the hub's version, v1. What a version has and the other has not must
// survive the way there and back, in an annotation if need be: the test beside this file looks.
func (src *CronJob) ConvertTo(hub conversion.Hub) error {
	dst, ok := hub.(*batchv1.CronJob)
	if !ok {
		return fmt.Errorf("convert CronJob from v2: the hub is a %T", hub)
	}
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec.Schedule, dst.Annotations = src.Spec.Schedule.text(src.Annotations)
	dst.Spec.StartingDeadlineSeconds = src.Spec.StartingDeadlineSeconds
	dst.Spec.ConcurrencyPolicy = batchv1.ConcurrencyPolicy(src.Spec.ConcurrencyPolicy)
	dst.Spec.Suspend = src.Spec.Suspend
	dst.Spec.JobTemplate = src.Spec.JobTemplate
	dst.Spec.SuccessfulJobsHistoryLimit = src.Spec.SuccessfulJobsHistoryLimit
	dst.Spec.FailedJobsHistoryLimit = src.Spec.FailedJobsHistoryLimit
	dst.Status = batchv1.CronJobStatus(src.Status)
	return nil
}

// ConvertFrom makes this CronJob of the hub's version, v1.
func (dst *CronJob) ConvertFrom(hub conversion.Hub) error {
	src, ok := hub.(*batchv1.CronJob)
	if !ok {
		return fmt.Errorf("convert CronJob to v2: the hub is a %T", hub)
	}
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec.Schedule, dst.Annotations = fields(src.Spec.Schedule, src.Annotations)
	dst.Spec.StartingDeadlineSeconds = src.Spec.StartingDeadlineSeconds
	dst.Spec.ConcurrencyPolicy = ConcurrencyPolicy(src.Spec.ConcurrencyPolicy)
	dst.Spec.Suspend = src.Spec.Suspend
	dst.Spec.JobTemplate = src.Spec.JobTemplate
	dst.Spec.SuccessfulJobsHistoryLimit = src.Spec.SuccessfulJobsHistoryLimit
	dst.Spec.FailedJobsHistoryLimit = src.Spec.FailedJobsHistoryLimit
	dst.Status = CronJobStatus(src.Status)
	return nil
}

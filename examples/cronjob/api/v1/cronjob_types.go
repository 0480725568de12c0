// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// CronJobSpec says what to run, when, and how runs that meet are treated.
type CronJobSpec struct {
	// schedule is the time pattern of the runs: five fields (minute, hour, day of the month, month,
	// day of the week) or one of @yearly, @monthly, @weekly, @daily, @hourly and "@every <duration>".
	// Times are in UTC.
	// +kubebuilder:validation:MinLength=1
	// +required
	Schedule string `json:"schedule"`

	// startingDeadlineSeconds is how late, in seconds, a run may still start. A run that missed its time
	// by more is dropped. Without it the latest missed run starts however late it is. When more than 100
	// runs were missed in this time, none of them starts, and the next regular run is the first again.
	// +kubebuilder:validation:Minimum=0
	// +optional
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// concurrencyPolicy decides about a run that is due while an earlier one is still active: Allow
	// (the default) starts it beside the other, Forbid holds it back, Replace deletes the other first.
	// +optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// suspend stops further runs. Active runs are left alone. The default is false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// jobTemplate is the Job that each run creates.
	// +required
	JobTemplate batchv1.JobTemplateSpec `json:"jobTemplate"`

	// successfulJobsHistoryLimit is how many completed Jobs to keep; older ones are deleted. The default
	// is 3. Where no webhook fills it in, all are kept.
	// +kubebuilder:validation:Minimum=0
	// +optional
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`

	// failedJobsHistoryLimit is how many failed Jobs to keep; older ones are deleted. The default is 1.
	// Where no webhook fills it in, all are kept.
	// +kubebuilder:validation:Minimum=0
	// +optional
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// NoSchedule is the schedule of a CronJob that was written as v2 with all fields left out. No run ever comes due.
const NoSchedule = "@none"

// ConcurrencyPolicy is what happens to a run that is due while an earlier one is still active.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	// AllowConcurrent starts the run beside the active ones. The empty policy means the same.
	AllowConcurrent ConcurrencyPolicy = "Allow"

	// ForbidConcurrent holds the run back. When the active one has finished, the latest run that was
	// held back starts, if its starting deadline has not passed.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"

	// ReplaceConcurrent deletes the active Jobs and starts the run in their place.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// CronJobStatus is what was observed of the runs.
type CronJobStatus struct {
	// active refers to the Jobs that have not finished, the oldest run first.
	// +listType=atomic
	// +optional
	Active []corev1.ObjectReference `json:"active,omitempty"`

	// lastScheduleTime is the time for which the latest run was scheduled, not the moment it started.
	// No run up to this time starts again.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// lastMissedTime is the time of the latest run that did not start and never will. An event says why.
	// +optional
	LastMissedTime *metav1.Time `json:"lastMissedTime,omitempty"`

	// plannedSchedule is the schedule by which runs were planned last.
	// +optional
	PlannedSchedule string `json:"plannedSchedule,omitempty"`

	// plannedSince is when the operator first saw that schedule. Runs count from here.
	// +optional
	PlannedSince *metav1.Time `json:"plannedSince,omitempty"`

	// conditions report whether runs are being scheduled and start, and if not, why and what to do.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// These are the types of conditions.
const (
	// ConditionSchedulable is true while runs are being scheduled.
	ConditionSchedulable = "Schedulable"

	// ConditionStarted is true when the latest run that came due has started.
	ConditionStarted = "Started"

	// ConditionStorageReady is true when the CronJob has its storage. It is there only where CronJobs have any.
	ConditionStorageReady = "StorageReady"
)

// These are the reasons of the condition Schedulable.
const (
	// ReasonScheduled: the schedule is valid and runs start when they are due.
	ReasonScheduled = "Scheduled"

	// ReasonSuspended: spec.suspend is set.
	ReasonSuspended = "Suspended"

	// ReasonInvalidSchedule: spec.schedule cannot be read or never comes due.
	ReasonInvalidSchedule = "InvalidSchedule"

	// ReasonClockBehind: the last run was scheduled for a time that has not come yet, since the operator's
	// clock was ahead then. Runs go on after that time.
	ReasonClockBehind = "ClockBehind"
)

// These are the reasons of the condition Started, and of events about runs.
const (
	// ReasonJobCreated: the run has its Job.
	ReasonJobCreated = "JobCreated"

	// ReasonHeldBack: an earlier run is active, and the concurrency policy is Forbid.
	ReasonHeldBack = "HeldBack"

	// ReasonStartFailed: the Job could not be created. This is repeated until it succeeds, the run is too
	// late, or the next one is due.
	ReasonStartFailed = "StartFailed"

	// ReasonJobNameTaken: a Job of the run's name exists that is not the CronJob's. The run is missed.
	ReasonJobNameTaken = "JobNameTaken"

	// ReasonTooManyMissedStarts: more than 100 runs were owed. All of them are missed.
	ReasonTooManyMissedStarts = "TooManyMissedStarts"

	// ReasonMissedDeadline: the run could not start in the time that spec.startingDeadlineSeconds gives.
	ReasonMissedDeadline = "MissedDeadline"

	// ReasonScheduleChanged: the run belonged to a schedule that was changed before it started.
	ReasonScheduleChanged = "ScheduleChanged"

	// ReasonSuperseded: a later run was due before this one could start.
	ReasonSuperseded = "Superseded"
)

// These are the reasons of the condition StorageReady.
const (
	// ReasonStorageCreated: the storage is there.
	ReasonStorageCreated = "StorageCreated"

	// ReasonStorageFailed: the storage could not be created or deleted. This is repeated until it succeeds.
	ReasonStorageFailed = "StorageFailed"

	// ReasonStorageUnknown: the CronJob has storage, but the operator runs without.
	ReasonStorageUnknown = "StorageUnknown"
)

// CronJob runs a Job at the times of a schedule.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Policy",type=string,JSONPath=`.spec.concurrencyPolicy`,priority=1
// +kubebuilder:printcolumn:name="Schedulable",type=string,JSONPath=`.status.conditions[?(@.type=="Schedulable")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Schedulable")].reason`,priority=1
// +kubebuilder:printcolumn:name="Started",type=string,JSONPath=`.status.conditions[?(@.type=="Started")].status`,priority=1
// +kubebuilder:printcolumn:name="Last Schedule",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:storageversion
type CronJob struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired behaviour.
	// +required
	Spec CronJobSpec `json:"spec"`

	// status is what was observed of the runs.
	// +optional
	Status CronJobStatus `json:"status,omitzero"`
}

// CronJobList is a list of CronJob objects.
// +kubebuilder:object:root=true
type CronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []CronJob `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &CronJob{}, &CronJobList{})
		return nil
	})
}

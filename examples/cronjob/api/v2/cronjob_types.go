// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// CronJobSpec says what to run, when, and how runs that meet are treated.
type CronJobSpec struct {
	// schedule is when runs start: at the times that all fields of it name. Times are in UTC. What these
	// fields cannot hold, such as "@every 90s", stays in v1's schedule and in the annotation
	// batch.tutorial.kubebuilder.io/v1-schedule, which counts until one of the fields is changed. With
	// neither the annotation nor a field no run ever starts.
	// +required
	Schedule CronSchedule `json:"schedule"`

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

// CronSchedule names times as cron does. A field that is left out stands for every value, but one field at
// least must be there: a schedule that was lost on its way must not mean every minute, which is minute: "*".
type CronSchedule struct {
	// minute of the hour, 0 to 59.
	// +optional
	Minute *CronField `json:"minute,omitempty"`

	// hour of the day, 0 to 23.
	// +optional
	Hour *CronField `json:"hour,omitempty"`

	// dayOfMonth is 1 to 31. When dayOfWeek is named as well, either day will do.
	// +optional
	DayOfMonth *CronField `json:"dayOfMonth,omitempty"`

	// month of the year, 1 to 12 or jan to dec.
	// +optional
	Month *CronField `json:"month,omitempty"`

	// dayOfWeek is 0 (Sunday) to 6, or sun to sat.
	// +optional
	DayOfWeek *CronField `json:"dayOfWeek,omitempty"`
}

// CronField is one field of a cron expression: a value, a list (1,15), a range (mon-fri), steps (*/5), or *.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:Pattern=`^\S+$`
type CronField string

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

	// plannedSchedule is the schedule, as v1 has it, by which runs were planned last.
	// +optional
	PlannedSchedule string `json:"plannedSchedule,omitempty"`

	// plannedSince is when the operator first saw that schedule. Runs count from here.
	// +optional
	PlannedSince *metav1.Time `json:"plannedSince,omitempty"`

	// conditions report whether runs are being scheduled and start, and if not, why and what to do. Their
	// types and reasons are the constants of v1.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// CronJob runs a Job at the times of a schedule.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Minute",type=string,JSONPath=`.spec.schedule.minute`
// +kubebuilder:printcolumn:name="Hour",type=string,JSONPath=`.spec.schedule.hour`
// +kubebuilder:printcolumn:name="Day",type=string,JSONPath=`.spec.schedule.dayOfMonth`
// +kubebuilder:printcolumn:name="Month",type=string,JSONPath=`.spec.schedule.month`
// +kubebuilder:printcolumn:name="Weekday",type=string,JSONPath=`.spec.schedule.dayOfWeek`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Policy",type=string,JSONPath=`.spec.concurrencyPolicy`,priority=1
// +kubebuilder:printcolumn:name="Schedulable",type=string,JSONPath=`.status.conditions[?(@.type=="Schedulable")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Schedulable")].reason`,priority=1
// +kubebuilder:printcolumn:name="Started",type=string,JSONPath=`.status.conditions[?(@.type=="Started")].status`,priority=1
// +kubebuilder:printcolumn:name="Last Schedule",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
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

// Package v1 has a kind with the schema of a whole pod in it.
// +groupName=batch.tutorial.example.com
package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Policy says what happens when a run is due and the last one still goes on.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type Policy string

// Spec is what the user wants.
type Spec struct {
	// +kubebuilder:validation:MinLength=0
	Schedule string `json:"schedule"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// +kubebuilder:default:=Allow
	ConcurrencyPolicy Policy `json:"concurrencyPolicy,omitempty"`
	Suspend           *bool  `json:"suspend,omitempty"`
	// JobTemplate is what to run.
	JobTemplate batchv1.JobTemplateSpec `json:"jobTemplate"`
	// +kubebuilder:validation:Minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	// +kubebuilder:validation:Minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// Status is what is.
type Status struct {
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Active           []corev1.ObjectReference `json:"active,omitempty"`
	LastScheduleTime *metav1.Time             `json:"lastScheduleTime,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Schedule,type=string,JSONPath=.spec.schedule

// CronJob runs jobs on a schedule.
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status,omitzero"`
}

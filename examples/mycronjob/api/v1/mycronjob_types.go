// Copyright 2026 The mycronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	kbatch "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// MyCronJobSpec is what the user of a MyCronJob wants.
type MyCronJobSpec struct {
	// jobTemplate is what a Job looks like. A Job starts every 5 seconds.
	// +required
	JobTemplate JobTemplate `json:"jobTemplate"`

	// historyLimit is how many finished Jobs are kept. The oldest go first.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=3
	// +optional
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
}

// JobTemplate is what Jobs are made from.
// +kubebuilder:validation:XValidation:rule="has(self.spec.template.spec.restartPolicy) && self.spec.template.spec.restartPolicy in ['Never', 'OnFailure']",message="must be Never or OnFailure: the pods of a Job end",fieldPath=".spec"
type JobTemplate struct {
	// metadata is what Jobs are labelled with.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitzero"`

	// spec is that of the Jobs.
	// +required
	Spec kbatch.JobSpec `json:"spec"`
}

// TemplateMetadata are the labels and annotations of Jobs. The Go type ObjectMeta would not do: a definition has no
// schema for the fields of metadata inside of an object, and what has no schema is dropped.
type TemplateMetadata struct {
	// labels of the Jobs.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the Jobs.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// MyCronJobStatus is what the operator observed.
type MyCronJobStatus struct {
	// lastRunTime is the time for which the last Job was started: a multiple of 5 seconds.
	// +optional
	LastRunTime *metav1.Time `json:"lastRunTime,omitempty"`

	// conditions show whether Jobs start, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionStarting is the type of the condition that is true while Jobs start.
const ConditionStarting = "Starting"

// These are the reasons of the condition Starting.
const (
	// ReasonOnTime: the last Job that was due has started.
	ReasonOnTime = "OnTime"

	// ReasonTooManyUnfinished: Jobs take longer than they may, so no other starts until one has finished.
	ReasonTooManyUnfinished = "TooManyUnfinished"

	// ReasonNameTaken: the Job that is due would have the name of another one, which belongs to something else.
	ReasonNameTaken = "NameTaken"

	// ReasonStartFailed: the API server did not take the Job. The message has its answer.
	ReasonStartFailed = "StartFailed"
)

// MyCronJob starts a Job every 5 seconds.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Last Run",type=date,JSONPath=`.status.lastRunTime`
// +kubebuilder:printcolumn:name="Starting",type=string,JSONPath=`.status.conditions[?(@.type=="Starting")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Starting")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52",message="must be no more than 52 characters: the names of Jobs have 11 more"
type MyCronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec MyCronJobSpec `json:"spec"`

	// +optional
	Status MyCronJobStatus `json:"status,omitzero"`
}

// MyCronJobList is a list of MyCronJob objects.
// +kubebuilder:object:root=true
type MyCronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []MyCronJob `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &MyCronJob{}, &MyCronJobList{})
		return nil
	})
}

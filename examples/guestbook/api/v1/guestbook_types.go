// Copyright 2026 The guestbook authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// GuestbookSpec is what the user of a Guestbook wants.
type GuestbookSpec struct {
	// size is the number of instances.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +required
	Size int32 `json:"size"`

	// configMapName is the name of the ConfigMap, in the same namespace, that configures the instances.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	// +required
	ConfigMapName string `json:"configMapName"`

	// alias is what guests sign with.
	// +kubebuilder:default=Name
	// +optional
	Alias AliasType `json:"alias,omitempty"`
}

// AliasType is what guests sign with.
// +kubebuilder:validation:Enum=Phone;Address;Name
type AliasType string

// GuestbookStatus is what the operator observed.
type GuestbookStatus struct {
	// active is the name of the pod that serves: of those that are ready, the one with the lowest number.
	// +optional
	Active string `json:"active,omitempty"`

	// standby are the names of the other pods that are ready.
	// +listType=atomic
	// +optional
	Standby []string `json:"standby,omitempty"`

	// conditions show whether the Guestbook is available, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionAvailable is the type of the condition that is true while all instances are ready.
const ConditionAvailable = "Available"

// These are the reasons of the condition Available.
const (
	// ReasonReady: all instances are ready.
	ReasonReady = "Ready"

	// ReasonStarting: instances are being started or stopped.
	ReasonStarting = "Starting"

	// ReasonConfigMissing: the ConfigMap is not there. Instances start when it is; those that run are left alone.
	ReasonConfigMissing = "ConfigMissing"

	// ReasonNameTaken: there is a StatefulSet of this name that belongs to something else.
	ReasonNameTaken = "NameTaken"

	// ReasonRefused: the API server does not take the StatefulSet. The message has its answer, and the operator tries
	// again.
	ReasonRefused = "Refused"
)

// Guestbook is a number of instances with one configuration, of which one is active.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52",message="a label of the pods adds 11 characters to the name, so it may have 52"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.active`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Guestbook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec GuestbookSpec `json:"spec"`

	// +optional
	Status GuestbookStatus `json:"status,omitzero"`
}

// GuestbookList is a list of Guestbook objects.
// +kubebuilder:object:root=true
type GuestbookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Guestbook `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Guestbook{}, &GuestbookList{})
		return nil
	})
}

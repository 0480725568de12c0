// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// CustomSetSpec is what the user of a CustomSet wants.
type CustomSetSpec struct {
	// replicas is the number of pods. With the default it is never absent, which /scale would answer with an error.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// CustomSetStatus is what the operator observed.
type CustomSetStatus struct {
	// replicas is the number of pods that are there, ready or not. The subresource /scale shows it.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector finds the pods, in the form that kubectl --selector takes. A HorizontalPodAutoscaler reads it through
	// /scale.
	// +optional
	Selector string `json:"selector,omitempty"`

	// conditions show whether all pods are ready, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionAvailable is the type of the condition that is true while all pods are ready.
const ConditionAvailable = "Available"

// These are the reasons of the condition Available.
const (
	// ReasonReady: there are as many pods as wanted, and all are ready.
	ReasonReady = "Ready"

	// ReasonScaling: pods are being started or stopped.
	ReasonScaling = "Scaling"

	// ReasonNameTaken: something else has a pod of a name that is needed.
	ReasonNameTaken = "NameTaken"

	// ReasonRefused: the API server does not take a pod. The message has its answer, and the operator tries again.
	ReasonRefused = "Refused"
)

// CustomSet is a number of pods that kubectl scale changes. Its name is also the value of a label on them, which may
// not be longer.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name may not be longer than 63 characters"
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Current",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
type CustomSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +kubebuilder:default={}
	// +optional
	Spec CustomSetSpec `json:"spec,omitzero"`

	// +optional
	Status CustomSetStatus `json:"status,omitzero"`
}

// CustomSetList is a list of CustomSet objects.
// +kubebuilder:object:root=true
type CustomSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []CustomSet `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &CustomSet{}, &CustomSetList{})
		return nil
	})
}

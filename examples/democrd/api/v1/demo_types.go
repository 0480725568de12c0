// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DemoSpec is what the user of a Demo wants.
type DemoSpec struct {
	// name is what the Demo is registered as. There is one that is valid: test.
	// +kubebuilder:validation:Pattern=`^test$`
	// +optional
	Name string `json:"name,omitempty"`
}

// DemoStatus is what the operator observed.
type DemoStatus struct {
	// conditions show whether the Demo is registered outside of the cluster, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionRegistered is the type of the condition that is true while the Demo's entry outside of the cluster is as it
// should be.
const ConditionRegistered = "Registered"

// These are the reasons of the condition Registered.
const (
	// ReasonRegistered: the entry is there.
	ReasonRegistered = "Registered"

	// ReasonRegistryFailed: the entry cannot be written. The operator tries again.
	ReasonRegistryFailed = "RegistryFailed"

	// ReasonCleanupFailed: the Demo is being deleted, and stays because its entry cannot be removed. The operator tries
	// again.
	ReasonCleanupFailed = "CleanupFailed"
)

// Finalizer keeps a Demo until its entry outside of the cluster is removed.
const Finalizer = "example.com/finalizer"

// Demo has an entry in a registry outside of the cluster.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=demos,shortName=dm,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="CR-Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Registered",type=string,JSONPath=`.status.conditions[?(@.type=="Registered")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Registered")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Demo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +optional
	Spec DemoSpec `json:"spec,omitzero"`

	// +optional
	Status DemoStatus `json:"status,omitzero"`
}

// DemoList is a list of Demo objects.
// +kubebuilder:object:root=true
type DemoList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Demo `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Demo{}, &DemoList{})
		return nil
	})
}

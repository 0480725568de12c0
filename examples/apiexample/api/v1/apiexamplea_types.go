// Copyright 2026 The apiexample authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ApiExampleASpec is what the user of an ApiExampleA wants.
type ApiExampleASpec struct {
	// foo is a word, and the operator logs each change of it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Foo string `json:"foo,omitempty"`
}

// ApiExampleAStatus is what the operator observed.
type ApiExampleAStatus struct {
	// foo is the word that was logged last.
	// +optional
	Foo string `json:"foo,omitempty"`

	// conditions show whether the present word is in the log.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionLogged is the type of the condition that is true when the present word is in the log.
const ConditionLogged = "Logged"

// These are the reasons of the condition Logged.
const (
	// ReasonWritten: the word is in the log.
	ReasonWritten = "Written"

	// ReasonNoFoo: there is no word.
	ReasonNoFoo = "NoFoo"
)

// ApiExampleA has its word written to the operator's log.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Foo",type=string,JSONPath=`.spec.foo`
// +kubebuilder:printcolumn:name="Logged",type=string,JSONPath=`.status.conditions[?(@.type=="Logged")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ApiExampleA struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +optional
	Spec ApiExampleASpec `json:"spec,omitzero"`

	// +optional
	Status ApiExampleAStatus `json:"status,omitzero"`
}

// ApiExampleAList is a list of ApiExampleA objects.
// +kubebuilder:object:root=true
type ApiExampleAList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ApiExampleA `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &ApiExampleA{}, &ApiExampleAList{})
		return nil
	})
}

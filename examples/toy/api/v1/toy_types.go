// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ToySpec says what a toy is. Rules that hold in several places, or for the elements of a list, are on types of their
// own.
type ToySpec struct {
	// name is what is printed on the box.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	// +optional
	Name string `json:"name,omitempty"`

	// knights come with the toy, each once.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +listType=set
	// +optional
	Knights []Knight `json:"knights,omitempty"`

	// alias is what the toy is called.
	// +optional
	Alias Alias `json:"alias,omitempty"`

	// rivals are the toys that it plays against, each once.
	// +kubebuilder:validation:MaxItems=2
	// +listType=set
	// +optional
	Rivals []Alias `json:"rivals,omitempty"`

	// rank is how much the toy is liked: 1 is most.
	// +required
	Rank Rank `json:"rank"`
}

// Knight is the name of a knight.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=30
type Knight string

// Alias is what a toy is called.
// +kubebuilder:validation:Enum=Lion;Wolf;Dragon
type Alias string

// Rank is how much a toy is liked: 1 is most.
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=3
type Rank int32

// Toy is a toy with its knights. Nothing runs for it: the API server checks, keeps and shows it.
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="Alias",type=string,JSONPath=`.spec.alias`
// +kubebuilder:printcolumn:name="Rank",type=integer,JSONPath=`.spec.rank`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Bravely Run Away",type=string,priority=10,description="the knight who turns his tail when danger comes",JSONPath=`.spec.knights[?(@ == "Sir Robin")]`
type Toy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec ToySpec `json:"spec"`
}

// ToyList is a list of Toy objects.
// +kubebuilder:object:root=true
type ToyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Toy `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Toy{}, &ToyList{})
		return nil
	})
}

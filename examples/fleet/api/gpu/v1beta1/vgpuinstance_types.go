// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// VGPUInstanceSpec is what the user of a VGPUInstance wants.
type VGPUInstanceSpec struct {
	// model is the model of the GPU, such as a100.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	// +required
	Model string `json:"model"`

	// memoryGiB is the share of the GPU's memory.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=192
	// +required
	MemoryGiB int32 `json:"memoryGiB"`
}

// VGPUInstanceStatus is what the fleet knows.
type VGPUInstanceStatus struct {
	// cluster is the member in which the instance is: namespace and name of its Cluster object.
	// +optional
	Cluster string `json:"cluster,omitempty"`

	// region is the value of the Cluster's label topology.kubernetes.io/region.
	// +optional
	Region string `json:"region,omitempty"`

	// conditions show whether the fleet knows the instance.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionRegistered is the type of the condition that is true once the fleet knows the instance, as it is now
// specified.
const ConditionRegistered = "Registered"

// ReasonSeen is why the condition Registered is true: the member's controller has seen the instance.
const ReasonSeen = "Seen"

// VGPUInstance is a share of a GPU, in a member of the fleet.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vgpu
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.model`
// +kubebuilder:printcolumn:name="GiB",type=integer,JSONPath=`.spec.memoryGiB`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.status.cluster`
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.status.region`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type VGPUInstance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec VGPUInstanceSpec `json:"spec"`

	// +optional
	Status VGPUInstanceStatus `json:"status,omitzero"`
}

// VGPUInstanceList is a list of VGPUInstance objects.
// +kubebuilder:object:root=true
type VGPUInstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []VGPUInstance `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &VGPUInstance{}, &VGPUInstanceList{})
		return nil
	})
}

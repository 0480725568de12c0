// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AppSpec is what the user of an App wants.
type AppSpec struct {
	// image is what the pods run. It answers HTTP on port 80.
	// +kubebuilder:validation:MinLength=1
	// +required
	Image string `json:"image"`

	// replicas is the number of pods.
	// +kubebuilder:validation:Minimum=0
	// +required
	Replicas int32 `json:"replicas"`

	// enable_service asks for a Service of the App's name.
	// +required
	EnableService bool `json:"enable_service"`

	// enable_ingress asks for an Ingress of the App's name.
	// It needs enable_service, and is the same as that if it is left out.
	// +optional
	EnableIngress *bool `json:"enable_ingress,omitempty"`
}

// WantsIngress reports whether there is to be an Ingress, also for an App that was stored without the webhooks.
func (s *AppSpec) WantsIngress() bool {
	return s.EnableService && (s.EnableIngress == nil || *s.EnableIngress)
}

// AppStatus is what the operator observed.
type AppStatus struct {
	// readyReplicas is the number of pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// host is the name under which the Ingress offers the App.
	// +optional
	Host string `json:"host,omitempty"`

	// conditions show whether the App is available, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionAvailable is the type of the condition that is true while all pods are ready and all parts are there.
const ConditionAvailable = "Available"

// These are the reasons of the condition Available.
const (
	// ReasonReady: all pods are ready and all parts are there.
	ReasonReady = "Ready"

	// ReasonStarting: pods are being started, replaced or stopped.
	ReasonStarting = "Starting"

	// ReasonNameTaken: a part would have the name of an object that belongs to something else.
	ReasonNameTaken = "NameTaken"

	// ReasonFailed: a part cannot be written. The message has the API server's answer, and the operator tries again.
	ReasonFailed = "Failed"
)

// App is a program with as many pods as are wanted, and, where that is wanted, a Service and an Ingress.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.status.host`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="Image",type=string,priority=1,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",message="the name must be one that a Service may have: up to 63 of a-z, 0-9 and -, beginning with a letter"
type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec AppSpec `json:"spec"`

	// +optional
	Status AppStatus `json:"status,omitzero"`
}

// AppList is a list of App objects.
// +kubebuilder:object:root=true
type AppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []App `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &App{}, &AppList{})
		return nil
	})
}

// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KubeconfigSecretType is the type of the Secrets that hold kubeconfigs. The operator's cache holds no others.
const KubeconfigSecretType corev1.SecretType = "fleet.my.domain/kubeconfig"

// ClusterSpec says how a member of the fleet is reached.
type ClusterSpec struct {
	// kubeconfigSecret names the Secret with the kubeconfig, in the same namespace and of the type
	// fleet.my.domain/kubeconfig.
	// +required
	KubeconfigSecret SecretKey `json:"kubeconfigSecret"`
}

// SecretKey is a key of a Secret in the same namespace.
type SecretKey struct {
	// name is the name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// key is the key in the Secret's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:default=kubeconfig
	// +optional
	Key string `json:"key,omitempty"`
}

// ClusterStatus is what the operator observed of a member.
type ClusterStatus struct {
	// instances is the number of VGPUInstances in the member, absent while the member is not engaged.
	// +optional
	Instances *int64 `json:"instances,omitempty"`

	// kubeconfigHash is the SHA-256 of the kubeconfig in use: that of the Secret's value, once a rotation is done.
	// +optional
	KubeconfigHash string `json:"kubeconfigHash,omitempty"`

	// conditions show whether the member is engaged, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionReady is the type of the condition that is true while the member is engaged: its cache is filled, and its
// controller runs.
const ConditionReady = "Ready"

// These are the reasons of the condition Ready.
const (
	// ReasonEngaged: the member's cache is filled, its controller runs, and it answers.
	ReasonEngaged = "Engaged"

	// ReasonConnecting: the first attempt is under way, with these credentials.
	ReasonConnecting = "Connecting"

	// ReasonSecretMissing: there is no such Secret of the right type, or no such key in it.
	ReasonSecretMissing = "SecretMissing"

	// ReasonKubeconfigInvalid: the kubeconfig cannot be read, or lacks something.
	ReasonKubeconfigInvalid = "KubeconfigInvalid"

	// ReasonKubeconfigRefused: the kubeconfig asks for what is not allowed here, such as a program to be run.
	ReasonKubeconfigRefused = "KubeconfigRefused"

	// ReasonUnreachable: the member does not answer. It is tried again, less and less often.
	ReasonUnreachable = "Unreachable"

	// ReasonUnauthorized: the member does not accept the credentials.
	ReasonUnauthorized = "Unauthorized"

	// ReasonForbidden: the credentials lack a permission in the member.
	ReasonForbidden = "Forbidden"

	// ReasonKindMissing: the member does not serve VGPUInstances.
	ReasonKindMissing = "KindMissing"
)

// Cluster is a member of the fleet.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=member,categories=fleet
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Instances",type=integer,JSONPath=`.status.instances`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec ClusterSpec `json:"spec"`

	// +optional
	Status ClusterStatus `json:"status,omitzero"`
}

// ClusterList is a list of Cluster objects.
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Cluster `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Cluster{}, &ClusterList{})
		return nil
	})
}

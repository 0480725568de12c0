// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"errors"
	"net/netip"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// MinSize is the least number of instances: three that are written to, and one to take over from each.
const MinSize = 6

// RedisClusterSpec is what the user of a RedisCluster wants.
type RedisClusterSpec struct {
	// size is the number of instances. The operator's webhook raises what is less than 6, or left out, to 6.
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=100
	// +required
	Size int32 `json:"size"`

	// addr is where each instance listens in its pod, as ip:port. 0.0.0.0 and [::] stand for all addresses of the pod.
	// +required
	Addr string `json:"addr"`

	// image is what instances run: Redis, or a program that takes the same arguments.
	// +kubebuilder:default="docker.io/library/redis:8"
	// +kubebuilder:validation:MinLength=1
	// +optional
	Image string `json:"image,omitempty"`
}

// AddrPort reads Addr. It takes no names, and an address of IPv6 only in brackets.
func (s *RedisClusterSpec) AddrPort() (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(s.Addr)
	if err == nil && addr.Port() == 0 {
		return addr, errors.New("the port 0 is none that clients could use")
	}
	return addr, err
}

// RedisClusterStatus is what the operator observed.
type RedisClusterStatus struct {
	// ready is the number of instances that are ready.
	// +optional
	Ready int32 `json:"ready"`

	// conditions show whether the RedisCluster is available, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionAvailable is the type of the condition that is true while all instances are ready.
const ConditionAvailable = "Available"

// These are the reasons of the condition Available.
const (
	// ReasonReady: all instances are ready, and there are no others.
	ReasonReady = "Ready"

	// ReasonChanging: instances are being started, stopped or replaced.
	ReasonChanging = "Changing"

	// ReasonNameTaken: the name of an instance is that of a pod that belongs to something else.
	ReasonNameTaken = "NameTaken"

	// ReasonBadAddr: spec.addr was stored without the webhook and cannot be read. Running pods are left alone.
	ReasonBadAddr = "BadAddr"

	// ReasonRefused: the API server does not take a pod. The message has its answer, and the operator tries again.
	ReasonRefused = "Refused"
)

// RedisCluster is a number of instances of Redis with one configuration.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 60",message="pods add a number to the name, so it may have 60 characters"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Addr",type=string,JSONPath=`.spec.addr`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type RedisCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec RedisClusterSpec `json:"spec"`

	// +optional
	Status RedisClusterStatus `json:"status,omitzero"`
}

// RedisClusterList is a list of RedisCluster objects.
// +kubebuilder:object:root=true
type RedisClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []RedisCluster `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &RedisCluster{}, &RedisClusterList{})
		return nil
	})
}

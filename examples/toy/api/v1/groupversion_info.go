// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the types of the API batch.tutorial.kubebuilder.io/v1.
// +kubebuilder:object:generate=true
// +groupName=batch.tutorial.kubebuilder.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the types in this package.
	GroupVersion = schema.GroupVersion{Group: "batch.tutorial.kubebuilder.io", Version: "v1"}

	// SchemeGroupVersion is GroupVersion under the name that generated clients use.
	SchemeGroupVersion = GroupVersion

	// SchemeBuilder collects the types; each file registers its own.
	SchemeBuilder = runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})

	// AddToScheme makes the types known to a scheme, and so to clients.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package v2 holds the types of the API batch.tutorial.kubebuilder.io/v2.
// +kubebuilder:object:generate=true
// +groupName=batch.tutorial.kubebuilder.io
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the types in this package.
	GroupVersion = schema.GroupVersion{Group: "batch.tutorial.kubebuilder.io", Version: "v2"}

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

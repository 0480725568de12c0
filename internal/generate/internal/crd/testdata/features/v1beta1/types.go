// Package v1beta1 is an older version whose fields are optional.
package v1beta1

// +groupName=features.example.com
// +kubebuilder:validation:Optional

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Feature is a kind of old.
// +kubebuilder:object:root=true
// +kubebuilder:unservedversion
// +kubebuilder:deprecatedversion:warning="use v1"
// +kubebuilder:resource:path=featureset,shortName=ft;fts,categories={all,features},scope=Cluster,singular=feature
type Feature struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec FeatureSpec `json:"spec"`
}

// FeatureSpec is nearly empty.
type FeatureSpec struct {
	Implicit string `json:"implicit"`
	// +required
	Explicit string `json:"explicit"`
	// +kubebuilder:validation:Required
	Required string `json:"required"`
}

// Gadget is only here, with a group of its version's name.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

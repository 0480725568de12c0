// Package v1alpha1 holds the types of the API samplecontroller.k8s.io/v1alpha1.
// +kubebuilder:object:generate=true
// +groupName=samplecontroller.k8s.io
package v1alpha1

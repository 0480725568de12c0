// Package hidden has a wrong marker where nothing is generated.
//
// +kubebuilder:object:generate=true
package hidden

// +kubebuilder:object:generate=maybe
type unexported struct{}

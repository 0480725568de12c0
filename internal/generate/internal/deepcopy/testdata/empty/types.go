// Package empty asks for methods and has no type that could have them.
// +kubebuilder:object:generate=true
package empty

// Name is copied by assignment.
type Name string

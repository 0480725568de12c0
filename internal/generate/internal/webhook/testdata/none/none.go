// Package none has no webhooks.
package none

// +kubebuilder:webhookconfiguration:mutating=true,name=empty

// Package object asks for methods type by type. It does not import the package
// of runtime.Object.
package object

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

//+kubebuilder:object:root=true

// Pod is an object.
type Pod struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Names []string
}

// PodList is a list of objects.
// +kubebuilder:object:root=true
type PodList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Pod
}

// Asked is asked for.
// +kubebuilder:object:generate=true
type Asked struct{ Names []string }

// NotAsked is not.
type NotAsked struct{ Names []string }

// Refused is refused although it is an object.
// +kubebuilder:object:root=true
// +kubebuilder:object:generate=false
type Refused struct{ Names []string }

// Not is explicitly no object.
// +kubebuilder:object:root=false
// +kubebuilder:object:generate=true
type Not struct{ Names []string }

// Package legacy has the markers of Kubernetes' own generator.
// +k8s:deepcopy-gen=package,register
package legacy

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Pod is an object.
type Pod struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

// Other has another interface.
// +k8s:deepcopy-gen:interfaces=example.com/other.Interface
type Other struct{ Names []string }

// Excluded is not copied.
// +k8s:deepcopy-gen=false
type Excluded struct{ Names []string }

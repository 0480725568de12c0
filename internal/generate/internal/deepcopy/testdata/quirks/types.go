// Package quirks has types for which controller-gen writes code that does not
// compile. Its users have learnt to avoid them; the bytes are the same here.
// +kubebuilder:object:generate=true
package quirks

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Times are pointers to what has methods written by hand.
type Times struct {
	Pointers []*metav1.Time
}

// Since is another name for a struct whose promoted method is lost.
type Since metav1.Time

// Names is an object that is a reference.
// +kubebuilder:object:root=true
type Names []string

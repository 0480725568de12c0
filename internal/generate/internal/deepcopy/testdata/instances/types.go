// Package instances has instances of generic types for which controller-gen
// writes code that does not compile: it leaves out their arguments.
// +kubebuilder:object:generate=true
package instances

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Row is generic and a reference.
// +kubebuilder:object:generate=false
type Row[T any] []T

// Two is generic and has two parameters.
// +kubebuilder:object:generate=false
type Two[K comparable, V any] map[K]V

// Number is one.
// +kubebuilder:object:generate=false
type Number[T any] int

// Rows has instances.
type Rows struct {
	Rows   Row[Row[[]int]]
	Set    sets.Set[string]
	Names  map[string]sets.Set[types.NamespacedName]
	Ptr    *sets.Set[types.NamespacedName]
	Two    Two[types.UID, Row[*Rows]]
	Number *Number[string]
}

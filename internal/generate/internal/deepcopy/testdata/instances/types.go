// Package instances has instances of generic types for which controller-gen
// writes code that does not compile: it leaves out their arguments.
// +kubebuilder:object:generate=true
package instances

// Row is generic and a reference.
// +kubebuilder:object:generate=false
type Row[T any] []T

// Rows has instances, which lose their arguments.
type Rows struct {
	Rows Row[Row[[]int]]
	Deep Pair[string, Pair[string, []int]]
}

// Pair is generic.
// +kubebuilder:object:generate=false
type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

// Package generic uses generic types that are declared elsewhere and here.
// +kubebuilder:object:generate=true
package generic

// Pair is generic.
// +kubebuilder:object:generate=false
type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

// List is generic and copies itself.
// +kubebuilder:object:generate=false
type List[T any] struct{ Items []T }

// DeepCopyInto is written by hand.
func (in *List[T]) DeepCopyInto(out *List[T]) { out.Items = append([]T(nil), in.Items...) }

// DeepCopy is written by hand.
func (in *List[T]) DeepCopy() *List[T] { out := new(List[T]); in.DeepCopyInto(out); return out }

// Fields uses them.
type Fields struct {
	Pair Pair[string, int]
	List List[string]
	Ptr  *List[string]
}

// Instance is a name for an instance.
type Instance Pair[string, []string]

// Nested has instances within instances.
type Nested struct {
	Pair Pair[Pair[string, int], int]
}

// Package deepcopy is the generator "object": it writes DeepCopy, DeepCopyInto and
// DeepCopyObject methods to zz_generated.deepcopy.go beside the types.
//
// Which types get methods is said by markers: a type with
// +kubebuilder:object:root=true is an API object and gets all three; all
// exported types of a package with +kubebuilder:object:generate=true get the
// first two, and the same marker on a type adds or excludes that one. The older
// spellings with +k8s:deepcopy-gen mean the same.
//
// A method that is written by hand is used and not made again. A type that has no copy known to be deep is a finding
// about the user's code: an interface, a function, an array, a channel. All such findings are reported at once, and
// there is no source then.
//
// The bytes are those that the loader's edition of controller-gen writes for the same packages.
// Its decisions are made on types that go/types has checked; here they are made
// on the resolver of package load, which must answer the same: whether a type is
// declared or an alias, what is under it, which methods it has by itself.
package deepcopy

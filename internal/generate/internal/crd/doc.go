// Package crd is the generator "crd": it writes a CustomResourceDefinition for
// each kind of the user's packages, that is for each type that embeds metav1's
// TypeMeta and ObjectMeta.
//
// A kind's versions are the types of its name in all packages of its group, which
// the package marker +groupName gives; the version is the package's name unless
// +versionName says otherwise. Markers on the type add the rest:
//
//	// +kubebuilder:resource:shortName=cj,scope=Namespaced
//	// +kubebuilder:subresource:status
//	// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
//	type CronJob struct { … }
//
// The bytes are those of the loader's edition of controller-gen, and so is the version that the annotation names. The
// last package by folder wins where several versions contradict each other about the whole resource.
package crd

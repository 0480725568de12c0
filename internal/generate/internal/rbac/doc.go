// Package rbac is the generator "rbac": it collects the permissions that code asks
// for by markers and writes them as one ClusterRole, and as a Role for each
// namespace that a marker names.
//
//	// +kubebuilder:rbac:groups=batch,resources=jobs;jobs/status,verbs=get;list
//	// +kubebuilder:rbac:urls=/metrics,verbs=get
//
// The rules of one role are merged until nothing can be said shorter: those for
// the same resources unite their verbs; then those that differ only in resources,
// only in groups or only in URLs become one. Lists are sorted, rules are ordered
// by groups, resources, names and URLs, documents by namespace and name, so that
// the output does not depend on the order of the markers.
//
// The bytes are those that the loader's edition of controller-gen writes for the same markers,
// with one exception: where merging by groups or URLs makes two rules speak of the
// same things with different verbs, it keeps whichever it meets last and thereby
// loses permissions, another one in every run; here the verbs are united.
package rbac

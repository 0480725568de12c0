// Package mistakes has markers that mean nothing.
package mistakes

// +kubebuilder:rbac:groups=apps,resources=deployments
// +kubebuilder:rbac:groups=apps,resource=deployments,verbs=get
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,

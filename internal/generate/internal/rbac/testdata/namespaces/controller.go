// Package namespaces asks for permissions in namespaces.
package namespaces

// +kubebuilder:rbac:groups="",resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs=get,namespace=system
// +kubebuilder:rbac:groups="",resources=pods,verbs=list,namespace=system
// +kubebuilder:rbac:groups="",resources=pods,verbs=*,namespace=apps
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,namespace=apps,roleName=secret-reader
// +kubebuilder:rbac:groups="",resources=secrets,verbs=list,roleName=secret-reader,namespace=apps
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get,roleName=node-reader

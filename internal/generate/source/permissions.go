package source

import "github.com/slipway-dev/slipway/internal/generate/internal/marker"

// PermissionMarker is the name of the markers that request permissions.
const PermissionMarker = "kubebuilder:rbac"

// Permission is the value of a marker that requests permissions for the code around it.
type Permission struct {
	Groups        []string `marker:"groups,optional" doc:"are API groups"`
	Resources     []string `marker:"resources,optional" doc:"are resources of these groups"`
	ResourceNames []string `marker:"resourceNames,optional" doc:"are the only objects that are meant"`
	Verbs         []string `doc:"are what may be done"`
	URLs          []string `marker:"urls,optional" doc:"are paths that are no resources"`
	Namespace     string   `marker:"namespace,optional" doc:"makes it a Role of that namespace"`
	RoleName      string   `marker:"roleName,optional" doc:"puts it into a role of its own"`
}

// PermissionDefinition is the marker that requests permissions.
func PermissionDefinition() marker.Definition {
	return marker.Define[Permission](PermissionMarker, marker.Package, "requests permissions: verbs on resources of groups, or on URLs")
}

// Permissions are those that a Go file requests, as [Webhooks] are those that it declares.
func Permissions(name string, text []byte) []Marked[Permission] {
	return packageMarkers[Permission](name, text, PermissionDefinition())
}

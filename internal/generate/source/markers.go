package source

import "github.com/slipway-dev/slipway/internal/generate/internal/marker"

// The names of the markers that say what kinds are.
const (
	GroupName      = "groupName"
	versionName    = "versionName"
	skip           = "kubebuilder:skip"
	resourceName   = "kubebuilder:resource"
	storageVersion = "kubebuilder:storageversion"
	subresource    = "kubebuilder:subresource:status"
)

// Resource is the value of the marker +kubebuilder:resource.
type Resource struct {
	Path       string   `marker:",optional" doc:"is the plural, by which the API is reached"`
	ShortName  []string `marker:",optional" doc:"are short names of it"`
	Categories []string `marker:",optional" doc:"are groups of resources that it belongs to, like all"`
	Singular   string   `marker:",optional" doc:"is the singular"`
	Scope      string   `marker:",optional" doc:"is Namespaced or Cluster"`
}

// StorageVersion is the value of the marker +kubebuilder:storageversion.
type StorageVersion struct{}

// StatusSubresource is the value of the marker +kubebuilder:subresource:status.
type StatusSubresource struct{}

// Definitions are the markers that say what kinds are. The generators share them.
func Definitions() []marker.Definition { return append(TypeDefinitions(), Skip()) }

// TypeDefinitions are those of [Definitions] that definitions of kinds are made from.
func TypeDefinitions() []marker.Definition {
	return []marker.Definition{
		marker.Define[string](GroupName, marker.Package, "is the API group of the package").Optional(),
		marker.Define[string](versionName, marker.Package, "is the API version of the package, instead of its name"),
		marker.Define[Resource](resourceName, marker.Type, "names the resource and its scope"),
		marker.Define[StorageVersion](storageVersion, marker.Type, "makes this version the storage version"),
		marker.Define[StatusSubresource](subresource, marker.Type, "adds the subresource status"),
	}
}

// Skip is the marker of packages whose types are no kinds.
func Skip() marker.Definition {
	return marker.Define[struct{}](skip, marker.Package, "excludes the package from the API versions")
}

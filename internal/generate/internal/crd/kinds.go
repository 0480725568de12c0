package crd

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/project"
)

// Markers are those that the generator reads, for others that read them too.
func Markers() []marker.Definition { return markers() }

// IsKind reports whether a type embeds metav1's TypeMeta and ObjectMeta.
func IsKind(d *load.TypeDecl) bool { return isKind(d) }

// Scope is the scope that the markers of a type say, and whether they make it a
// resource.
func Scope(values marker.Values) (scope string, found bool) {
	r, found := marker.Get[source.Resource](values, "kubebuilder:resource")
	return r.Scope, found
}

// Plural is the name under which a kind's definition has its objects served: what its markers say, or the plural of its
// name.
func Plural(kind string, values marker.Values) string {
	r, _ := marker.Get[source.Resource](values, "kubebuilder:resource")
	return cmp.Or(r.Path, project.Plural(kind))
}

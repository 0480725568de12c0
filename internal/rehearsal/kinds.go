package rehearsal

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/ship"
)

// A kind is one that the operator defines.
type kind struct {
	schema.GroupKind
	definition string // its name
	plural     string
	namespaced bool
	versions   []string // that are served
	storage    string
}

// resource is where objects of the kind are read and written in a version.
func (k kind) resource(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: version, Resource: k.plural}
}

// kindsOf are the kinds that objects of a revision define.
func kindsOf(objects []*unstructured.Unstructured) (kinds []kind) {
	for _, o := range objects {
		if !ship.IsDefinition(o) {
			continue
		}
		text := func(fields ...string) string {
			value, _, _ := unstructured.NestedString(o.Object, append([]string{"spec"}, fields...)...)
			return value
		}
		kinds = append(kinds, kind{
			GroupKind:  schema.GroupKind{Group: text("group"), Kind: text("names", "kind")},
			definition: o.GetName(), plural: text("names", "plural"), namespaced: text("scope") != "Cluster",
			versions: ship.ServedVersions(o), storage: ship.StorageVersion(o),
		})
	}
	return kinds
}

// findKind returns the kind of a group; ok is false if none of kinds is it.
func findKind(kinds []kind, of schema.GroupKind) (kind, bool) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.GroupKind == of })
	if at < 0 {
		return kind{}, false
	}
	return kinds[at], true
}

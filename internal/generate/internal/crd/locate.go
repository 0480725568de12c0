package crd

import (
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/report"
)

// Locate finds what in the code a place in the definition comes from, given as the API server writes it, like
// spec.versions[0].schema.openAPIV3Schema.properties[spec]. It ends at the kind where the code says nothing closer.
func (d *definition) Locate(path string) report.Position {
	key, index, rest := schema.Step(strings.TrimPrefix(path, "spec."))
	v := d.Versions[0]
	for _, stored := range d.Versions {
		if stored.Storage {
			v = stored
		}
	}
	switch key {
	case "versions":
		if n, err := strconv.Atoi(index); err == nil && n < len(d.Versions) {
			v = d.Versions[n]
		}
		return v.locate(rest)
	case "group":
		return v.atPackage("groupName")
	case "names", "scope":
		return v.atKind("kubebuilder:resource", 0)
	case "metadata":
		return v.atKind("kubebuilder:metadata", 0)
	}
	return v.atKind("", 0)
}

// locate finds a place in a version.
func (v *version) locate(path string) report.Position {
	key, index, rest := schema.Step(path)
	n, _ := strconv.Atoi(index) // 0 without one
	switch key {
	case "schema":
		return schema.Locate(v.decl, v.Schema, strings.TrimPrefix(rest, ".openAPIV3Schema"))
	case "additionalPrinterColumns":
		return v.atKind("kubebuilder:printcolumn", n)
	case "selectableFields":
		return v.atKind("kubebuilder:selectablefield", n)
	case "subresources":
		if strings.HasPrefix(rest, ".scale") {
			return v.atKind("kubebuilder:subresource:scale", 0)
		}
		return v.atKind("kubebuilder:subresource:status", 0)
	case "deprecated", "deprecationWarning":
		return v.atKind("kubebuilder:deprecatedversion", 0)
	case "name":
		return v.atPackage("versionName")
	}
	return v.atKind("", 0)
}

// atKind is the nth marker of that name at the kind, or else the kind.
func (v *version) atKind(name string, nth int) report.Position {
	for _, value := range v.decl.Markers() {
		if value.Definition.Name != name {
			continue
		}
		if nth == 0 {
			return v.decl.File.Position(value.Pos)
		}
		nth--
	}
	return v.decl.File.Position(v.decl.Spec.Pos())
}

// atPackage is the marker of that name at the package, or else the kind.
func (v *version) atPackage(name string) report.Position {
	for _, value := range v.decl.Package.Markers() {
		if value.Definition.Name == name {
			return v.decl.File.Position(value.Pos)
		}
	}
	return v.atKind("", 0)
}

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
	if v, rest := d.version(path); v != nil {
		return v.locate(rest)
	}
	v := d.stored()
	switch key, _, _ := schema.Step(strings.TrimPrefix(path, "spec.")); key {
	case "group":
		return v.atPackage("groupName")
	case "names", "scope":
		return v.atKind("kubebuilder:resource", 0)
	case "metadata":
		return v.atKind("kubebuilder:metadata", 0)
	}
	return v.atKind("", 0)
}

// version is the version that a path leads into, and the path from there; nil for paths elsewhere.
func (d *definition) version(path string) (v *version, rest string) {
	key, index, rest := schema.Step(strings.TrimPrefix(path, "spec."))
	if key != "versions" {
		return nil, ""
	}
	if n, err := strconv.Atoi(index); err == nil && n >= 0 && n < len(d.Versions) {
		return d.Versions[n], rest
	}
	return d.stored(), rest
}

// stored is the version in which objects are stored, or else the first one.
func (d *definition) stored() *version {
	for _, v := range d.Versions {
		if v.Storage {
			return v
		}
	}
	return d.Versions[0]
}

// schemaAt is the version whose schema a path leads into, and the path in it.
func (d *definition) schemaAt(path string) (v *version, rest string, ok bool) {
	v, rest = d.version(path)
	if v == nil {
		return nil, "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "."), "schema.openAPIV3Schema")
	return v, rest, ok
}

// Recursion is the name of the type at a path, given as for Locate, if it contains itself there; else "".
func (d *definition) Recursion(path string) string {
	v, rest, ok := d.schemaAt(path)
	if !ok {
		return ""
	}
	return schema.Recursion(v.decl, v.Schema, rest)
}

// Unbounded lists the fields that make a rule at a path costly, since nothing bounds their length.
func (d *definition) Unbounded(path string) []string {
	v, rest, ok := d.schemaAt(path)
	if !ok {
		return nil
	}
	return schema.Unbounded(v.Schema, rest)
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

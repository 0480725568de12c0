package crd

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

// definition is a CustomResourceDefinition as far as Go types say it.
type definition struct {
	Group       string
	Kind        string
	Plural      string
	Singular    string
	ShortNames  []string
	Categories  []string
	Scope       string
	Annotations map[string]string
	Labels      map[string]string
	Versions    []*version
}

// named is the version with the name: the first, should several packages be the
// same version.
func (d *definition) named(name string) *version {
	i := slices.IndexFunc(d.Versions, func(v *version) bool { return v.Name == name })
	return d.Versions[i]
}

// skip leaves out the versions that a marker says so of.
func (d *definition) skip() {
	var kept []*version
	for _, v := range d.Versions {
		if !d.named(v.Name).skipped {
			kept = append(kept, v)
		}
	}
	d.Versions = kept
}

// version is one version of it.
type version struct {
	Name       string
	Served     bool
	Storage    bool
	Deprecated bool
	Warning    *string
	Schema     *schema.Schema
	Columns    []printColumn
	Selectable []string // JSON paths

	// HasSubresources is set even without any by what needs the field to exist.
	HasSubresources bool
	Status          bool
	Scale           *scale

	decl    *load.TypeDecl // the Go type
	skipped bool
}

package crd

import (
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

// Kind is a kind that the user's packages declare, for generators that do
// something else with its schemas than to write definitions.
type Kind struct {
	Group, Name string
	Versions    []KindVersion // one for each package of the group
}

// KindVersion is what a package reports about a kind.
type KindVersion struct {
	Name    string
	Package *load.Package
	Decl    *load.TypeDecl // nil when the package does not declare the kind
}

// Kinds are the kinds of the pass's packages, in controller-gen's order.
func Kinds(pass *generator.Pass) []Kind {
	packages := apiPackages(pass.Roots)
	var kinds []Kind
	for _, k := range sortedKinds(packages, apiPackage.kinds) {
		found := Kind{Group: k.group, Name: k.name}
		for _, p := range packages {
			if p.group == k.group {
				found.Versions = append(found.Versions, KindVersion{p.version, p.Package, p.Decl(k.name)})
			}
		}
		kinds = append(kinds, found)
	}
	return kinds
}

// Schema is the kind's schema in this version as a definition has it.
func (v KindVersion) Schema(builder *schema.Builder) *schema.Schema {
	return withPlainMetadata(builder.Flat(v.Decl))
}

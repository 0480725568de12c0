package crd

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/report"
)

// Served is a served version of a kind, for generators that work on schemas.
type Served struct {
	Group, Version, Plural string
	Status                 bool // a subresource
	Schema                 *schema.Schema

	of *version
}

// Locate finds what in the code a place in the schema comes from, such as .properties[spec].
func (s Served) Locate(path string) report.Position {
	return s.of.locate(fmt.Sprintf("schema.openAPIV3Schema%s", path))
}

// AllServed returns the served versions of all kinds of the pass, by kind and version. The definitions' own generator
// reports anything that they would not allow.
func AllServed(pass *generator.Pass) []Served {
	c := newCollector(pass, schema.Options{AllowDangerousTypes: true, WithoutDoubts: true}, printing{})
	packages := apiPackages(pass.Roots)
	var all []Served
	for _, k := range sortedKinds(packages, c.kindsOf) {
		d := c.define(k, c.withReached(packages))
		if d == nil {
			continue
		}
		for _, v := range d.Versions {
			if v.Served {
				all = append(all, Served{Group: d.Group, Version: v.Name, Plural: d.Plural, Status: v.Status, Schema: v.Schema, of: v})
			}
		}
	}
	return all
}

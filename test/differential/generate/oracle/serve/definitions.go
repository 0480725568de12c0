package main

import (
	"cmp"
	"slices"

	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

func definitions() []oracle.Definition {
	registry := &markers.Registry{}
	if err := (crd.Generator{}).RegisterMarkers(registry); err != nil {
		panic(err) // its own markers, which it registers whenever it runs
	}
	var all []oracle.Definition
	for _, d := range registry.AllDefinitions() {
		definition := oracle.Definition{Name: d.Name, Target: d.Target.String()}
		for name, argument := range d.Fields {
			definition.Arguments = append(definition.Arguments, oracle.Argument{Name: name, Type: argument.TypeString(), Optional: argument.Optional})
		}
		slices.SortFunc(definition.Arguments, func(a, b oracle.Argument) int { return cmp.Compare(a.Name, b.Name) })
		all = append(all, definition)
	}
	slices.SortFunc(all, func(a, b oracle.Definition) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Target, b.Target))
	})
	return all
}

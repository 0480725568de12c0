// Package feature switches the rows of the table in package features on and off. Most are a kustomize component in
// config/<feature> and one line in the kustomization of config/default. What a row cannot express is in [parts].
//
// [Enable] and [Disable] are edits of a project. [Serve] plans what deploys webhooks. [Record] records the features
// that a project has, for undoing. Projects of kubebuilder have the same parts as commented items of lists; these are
// uncommented and commented.
package feature

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

func (p *planner) defaultConfig() string { return p.Code().KustomizationFor(codebase.DeployedFolder) }

// crdConfig is the kustomization that lists the definitions and, in projects of kubebuilder, their patches.
func (p *planner) crdConfig() string { return p.Code().KustomizationFor(p.Code().CRDListFolder()) }

func (p *planner) component(f features.Name) string {
	return p.Code().KustomizationFor(features.Of(f).Folder())
}

// componentLine is the line of the feature's component, inserted in the order of the table.
func componentLine(row features.Feature) piece.OrderedItem {
	all := features.Table()
	line := piece.OrderedItem{Item: pieceOf(row.Component())}
	at := slices.IndexFunc(all, func(other features.Feature) bool { return other.Name == row.Name })
	for _, other := range all[at+1:] {
		line.Below = append(line.Below, pieceOf(other.Component()))
	}
	return line
}

func pieceOf(e features.Entry) piece.Item { return piece.Item{List: e.List, Name: e.Item} }

// linesOf returns the pieces that switch a component on: its line, and a mark on kubebuilder's commented lines for the
// same feature that the component covers.
func linesOf(row features.Feature) []plan.Piece {
	all := []plan.Piece{componentLine(row)}
	for _, covered := range []features.Feature{row, features.Of(row.Excludes)} {
		if covered.Name == "" {
			continue
		}
		for _, e := range covered.Lines() {
			all = append(all, piece.Covered{Section: piece.Section{Of: e}, Name: string(row.Name) + " " + e.List + " " + e.Item})
		}
	}
	return all
}

// templatesOf is the feature's tree of templates. Metrics are on in a new project, so theirs is in the tree of init.
func templatesOf(f features.Name) string {
	if f == features.Metrics {
		return "init/config/metrics"
	}
	return "features/" + string(f)
}

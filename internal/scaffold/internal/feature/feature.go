// Package feature switches the rows of the table in package features on and off: most are a kustomize component in
// config/<feature> and one line in the kustomization of config/default. What a row cannot say is in [parts].
//
// [Enable] and [Disable] are edits of a project; [Serve] gives webhooks what deploys them; [Record] says which features
// a project has, for undoing. Projects of other tools have the same parts as lists in comments; those are
// switched by their comment.
package feature

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// defaultConfig is the file in which each feature is a line.
func (p *planner) defaultConfig() string { return p.Code().KustomizationFor(codebase.DeployedFolder) }

// crdConfig lists the definitions, and in projects of other tools what is patched into them.
func (p *planner) crdConfig() string { return p.Code().KustomizationFor(codebase.CRDListFolder) }

// component is the feature's kustomization.
func (p *planner) component(f features.Name) string {
	return p.Code().KustomizationFor(features.Of(f).Folder())
}

// componentLine is the line of the feature's component, in its place among those of the others.
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

// linesOf are the pieces of what switches the feature's component on: its line, and what covers the same of
// kubebuilder's, which waits in comments.
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

// templatesOf is the feature's tree of templates; metrics are on from the beginning.
func templatesOf(f features.Name) string {
	if f == features.Metrics {
		return "init/config/metrics"
	}
	return "features/" + string(f)
}

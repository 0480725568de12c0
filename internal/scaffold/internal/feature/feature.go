// Package feature switches parts of a project on and off: most are a kustomize component in config/<feature> and one
// line in the kustomization of config/default. Some have [parts] besides, or instead: code, files elsewhere, pinned
// modules.
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

// A Feature is a part of what is deployed that one line of the kustomization in config/default
// switches on: a kustomize component in config/<feature>, whose files are written when it is
// first enabled, and its [parts]. Those that test and deliver a project are not deployed: see [Feature.Deployed].
type Feature string

// The features: those that are deployed are rows of the table in package features.
const (
	Metrics       Feature = "metrics"
	Prometheus    Feature = "prometheus"
	Alerts        Feature = "alerts"
	Dashboard     Feature = "dashboard"
	WebhookServer Feature = "webhook"
	CertManager   Feature = "certmanager"
	SelfCert      Feature = "selfcert"
	MetricsTLS    Feature = "metrics-tls"
	HA            Feature = "ha"
	PProf         Feature = "pprof"
	NetworkPolicy Feature = "network-policy"
	Egress        Feature = "egress"
	Tracing       Feature = "tracing"
	Policies      Feature = "vap"
	Namespaced    Feature = "namespaced"
	EndToEnd      Feature = "e2e"
	Workflow      Feature = "ci"
)

// All lists all features in their order.
func All() []Feature {
	var all []Feature
	for _, row := range features.Table() {
		all = append(all, Feature(row.Name))
	}
	return append(all, EndToEnd, Workflow)
}

// Deployed reports whether the feature is a component of what is deployed. One that is not consists of its [parts]
// alone: it is on while their file is there.
func (f Feature) Deployed() bool { return f != EndToEnd && f != Workflow }

// Parse returns the feature of a name; cert-manager may be spelt as its project does.
func Parse(name string) (Feature, bool) {
	if name == "cert-manager" {
		return CertManager, true
	}
	f := Feature(name)
	return f, slices.Contains(All(), f)
}

// defaultConfig is the file in which each feature is a line.
func (p *planner) defaultConfig() string { return p.Code().KustomizationFor(codebase.DeployedFolder) }

// crdConfig lists the definitions, and in projects of other tools what is patched into them.
func (p *planner) crdConfig() string { return p.Code().KustomizationFor(codebase.CRDListFolder) }

// line is the line of the feature's component, in its place among those of the others.
func (f Feature) line() piece.OrderedItem {
	all := All()
	line := piece.OrderedItem{Item: piece.Item{List: "components", Name: "../" + string(f)}}
	for _, other := range all[slices.Index(all, f)+1:] {
		line.Below = append(line.Below, piece.Item{List: "components", Name: "../" + string(other)})
	}
	return line
}

// lines are the pieces of what switches the feature's component on: its line, and what covers the same of
// kubebuilder's, which waits in comments.
func (f Feature) lines() []plan.Piece {
	of := []plan.Piece{f.line()}
	for _, row := range []features.Feature{f.row(), features.Of(f.row().Excludes)} {
		if row.Name == "" {
			continue
		}
		for _, e := range row.Lines() {
			of = append(of, piece.Covered{Section: piece.Section{Of: e}, Name: string(f) + " " + e.List + " " + e.Item})
		}
	}
	return of
}

// folder is where layouts have the feature's files.
func (f Feature) folder() string { return "config/" + string(f) }

// component is the feature's kustomization.
func (p *planner) component(f Feature) string { return p.Code().KustomizationFor(f.folder()) }

// templates is the feature's tree of templates; metrics are on from the beginning.
func (f Feature) templates() string {
	if f == Metrics {
		return "init/config/metrics"
	}
	return "features/" + string(f)
}

package node

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/version"
)

// SimulatedLabel marks the Nodes of package simnode; its value is "true". RealLabel marks those of package realnode,
// and PlainLabel those of them whose pods are plain processes, which share the machine's ports.
const (
	SimulatedLabel = "slipway.dev/simulated-node"
	RealLabel      = "slipway.dev/real-node"
	PlainLabel     = "slipway.dev/plain-node"
)

// KubeletVersion is what the nodes report.
const KubeletVersion = "v" + version.Kubernetes

// Unnamed lists the Nodes of an earlier run, simulated or real, that are neither among specs any more nor among the
// others.
func Unnamed(specs []Spec, others []string, existing map[string]*corev1.Node) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(existing)), func(name string) bool {
		labels := existing[name].Labels
		return labels[SimulatedLabel] == "" && labels[RealLabel] == "" || slices.Contains(others, name) ||
			slices.ContainsFunc(specs, func(s Spec) bool { return s.Name == name })
	})
}
